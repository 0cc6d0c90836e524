"""The project's own files of a recipe: its code, and the licence of that code."""

from __future__ import annotations

import shutil
from pathlib import Path

from stacks.channel.staging.build_context import BuildContext

LICENCE = "LICENSE-"


def own_code(context: BuildContext) -> list[Path]:
    """Return the recipe's own sources, without the licence."""
    return [path for path in context.recipe.own_sources() if not path.name.startswith(LICENCE)]


def copy_own_licences(context: BuildContext) -> None:
    """Copy the licences among the recipe's own sources to share/licenses."""
    context.licences.mkdir(parents=True, exist_ok=True)
    for path in context.recipe.own_sources():
        if path.name.startswith(LICENCE):
            shutil.copyfile(path, context.licences / path.name)
