"""Python modules of the project's own, for every Python."""

from __future__ import annotations

import shutil

from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.own_files import copy_own_licences, own_code


def stage(context: BuildContext) -> None:
    """Copy the recipe's own modules to site-packages, and their licence."""
    folder = context.root / "site-packages"
    folder.mkdir()
    for path in own_code(context):
        shutil.copyfile(path, folder / path.name)
    copy_own_licences(context)
