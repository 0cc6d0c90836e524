"""Python modules of the project's own, for every Python."""

from __future__ import annotations

import shutil

from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.dist_info import normalised, write_record
from stacks.channel.staging.own_files import copy_own_licences, own_code


def stage(context: BuildContext) -> None:
    """Copy the recipe's own modules to site-packages, with a dist-info, and their licence."""
    recipe = context.recipe
    folder = context.root / "site-packages"
    folder.mkdir()
    for path in own_code(context):
        shutil.copyfile(path, folder / path.name)
    copy_own_licences(context)
    dist_info = folder / "own.dist-info"
    dist_info.mkdir()
    (dist_info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {recipe.package.name}\nVersion: {recipe.package.version}\n"
        f"Summary: {recipe.about.summary}\nLicense: {recipe.about.license}\n"
    )
    write_record(context.root, normalised(dist_info, recipe.package.name))
