"""Files and folders of debs in other folders of the prefix: headers, Python modules, plugins."""

from __future__ import annotations

import shutil
from pathlib import Path

from stacks.channel.stages import DebianFiles
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import copy_licences, unpack_all
from stacks.channel.staging.egg_info import to_dist_info
from stacks.channel.staging.elf import elf_files, set_rpath
from stacks.channel.staging.tree import check_links, copy_tree
from stacks.core.errors import UsageError


def stage(context: BuildContext) -> None:
    """Copy the recipe's files out of its debs, and make the recipe's links in lib/.

    The RPATH of libraries and modules leads to the folders that `extra.search` names.
    A Python package gets a dist-info. Raises UsageError for a pattern that matches nothing in the
    debs.
    """
    extra = context.recipe.extra
    assert isinstance(extra, DebianFiles)
    source = context.scratch / "debs"
    unpack_all(context, source)
    for pattern, target in extra.files.items():
        _copy(source, pattern, context.root / target, extra.left_out)
    check_links(context.root)
    for link, target in extra.links.items():
        (context.root / "lib" / link).symlink_to(target)
    copy_licences(source, context)
    set_rpath(elf_files(context.root), *(context.root / folder for folder in extra.search))
    to_dist_info(context.root, context.recipe.package.name)


def _copy(source: Path, pattern: str, target: Path, left_out: tuple[str, ...]) -> None:
    matches = sorted(source.glob(pattern))
    if not matches:
        raise UsageError(
            f"no {pattern} in the recipe's debs",
            fix="correct `extra.files` in the recipe, or the list of debs",
        )
    target.mkdir(parents=True, exist_ok=True)
    for path in matches:
        if path.is_dir():
            copy_tree(path, target / path.name, left_out)
        else:
            shutil.copy2(path, target / path.name, follow_symlinks=False)
