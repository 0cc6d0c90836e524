"""Python modules of the project's own, for every Python."""

from __future__ import annotations

import shutil

from stacks.channel.staging.build_context import Work


def stage(work: Work) -> None:
    """Copy the recipe's own sources to site-packages."""
    folder = work.root / "site-packages"
    folder.mkdir()
    for path in work.recipe.own_sources():
        shutil.copyfile(path, folder / path.name)
