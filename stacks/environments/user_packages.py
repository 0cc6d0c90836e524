"""Packages made of a file that only the user has: told plainly, and never part of a lock."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from stacks.channel import package
from stacks.channel.offers import Offer
from stacks.channel.recipe import Recipe
from stacks.channel.stages import UserTarball
from stacks.channel.staging.amdlibm import EXPECTED
from stacks.core.disk import sha256_of
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.core.yamlfile import load
from stacks.environments.part import Part
from stacks.variants.variant import AMDLIBM, Variant


def packages(workspace: Workspace, variant: Variant) -> dict[str, Part]:
    """Return the user's own packages by the names of the locked ones whose place they take.

    That is AMD's library in place of the compatible one, where the variant has that and the
    variable names AMD's archive. Raises UsageError where the file is not one of AMD's.
    """
    if variant.libm != "amdlibm":
        return {}
    recipe = load(workspace.recipes / "amdlibm" / "recipe.yaml", Recipe)
    assert isinstance(recipe.extra, UserTarball)
    variable = recipe.extra.variable
    given = os.environ.get(variable)
    if not given:
        return {}
    tarball = Path(given).expanduser().absolute()
    if not tarball.is_file():
        raise UsageError(
            f"{variable}: {tarball}: no such file",
            expected=EXPECTED,
            fix=f"correct {variable}, or unset it to have {AMDLIBM}",
        )
    named = recipe.package.model_copy(update={"version": version_of(tarball.name)})
    recipe = recipe.model_copy(update={"package": named})
    inputs, built = package.build_user_package(workspace, recipe, tarball)
    print(
        f"  {'unlocked':<9}{named.name} {named.version} from {variable} in place of "
        f"{AMDLIBM}; sha256 {sha256_of(tarball)}",
        file=sys.stderr,
    )
    return {AMDLIBM: Part(Offer(recipe, inputs), built)}


def version_of(name: str) -> str:
    """Return the version in an archive's name, 0 where there is none."""
    found = re.search(r"[-_](\d+(?:[.-]\d+)*)(?=[._-]|$)", name)
    return found[1].replace("-", ".") if found else "0"
