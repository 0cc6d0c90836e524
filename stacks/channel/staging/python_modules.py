"""Python modules of the project's own, for every Python."""

from __future__ import annotations

import shutil

from stacks.channel.staging.build_context import BuildContext


def stage(context: BuildContext) -> None:
    """Copy the recipe's own sources to site-packages."""
    folder = context.root / "site-packages"
    folder.mkdir()
    for path in context.recipe.own_sources():
        shutil.copyfile(path, folder / path.name)
