"""Packages made of a user's own file: printed, and never part of a lock."""

from __future__ import annotations

import os
import re
import sys

from stacks.channel import package
from stacks.channel.offers import Offer
from stacks.channel.recipe import Recipe
from stacks.channel.staging.amdlibm import EXPECTED, UserTarball
from stacks.core.disk import sha256_of
from stacks.core.errors import UsageError
from stacks.core.paths import expanded
from stacks.core.workspace import Workspace
from stacks.core.yamlfile import load
from stacks.environments.make.part import Part
from stacks.variants.variant import AMDLIBM, Variant


def packages(workspace: Workspace, variant: Variant) -> dict[str, Part]:
    """Return the user's own packages by the names of the locked packages that they replace.

    That is AMD's library for the compatible one, if the variant has that and the variable names
    AMD's archive. Raises UsageError if the file is not that archive.
    """
    if variant.libm != "amdlibm":
        return {}
    recipe = load(workspace.recipes / "amdlibm" / "recipe.yaml", Recipe)
    assert isinstance(recipe.extra, UserTarball)
    variable = recipe.extra.variable
    archive = os.environ.get(variable)
    if not archive:
        return {}
    tarball = expanded(archive).absolute()
    if not tarball.is_file():
        raise UsageError(
            f"{variable}: {tarball}: no such file",
            expected=EXPECTED,
            fix=f"correct {variable}, or unset it to use {AMDLIBM}",
        )
    if not os.access(tarball, os.R_OK):
        raise UsageError(
            f"{variable}: {tarball}: permission denied",
            fix=f"make it readable, or unset {variable} to use {AMDLIBM}",
        )
    named = recipe.package.model_copy(update={"version": version_of(tarball.name)})
    recipe = recipe.model_copy(update={"package": named})
    digest, built = package.build_user_package(workspace, recipe, tarball)
    print(
        f"  {'unlocked':<9}{named.name} {named.version} from {variable} in place of "
        f"{AMDLIBM}; sha256 {sha256_of(tarball)}",
        file=sys.stderr,
    )
    return {AMDLIBM: Part(Offer(recipe, digest).url, built)}


def version_of(name: str) -> str:
    """Return the version in an archive's name, 0 if there is none."""
    match = re.search(r"[-_](\d+(?:[.-]\d+)*)(?=[._-]|$)", name)
    return match[1].replace("-", ".") if match else "0"
