"""Files and folders of Debian's packages at other places: headers, Python modules, plugins."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from stacks.channel.stages import DebianFiles
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.debian import copy_licences, unpack_all
from stacks.channel.staging.elf import PATCHELF, elf_files, is_dynamic
from stacks.core.errors import UsageError
from stacks.core.process import call


def stage(work: Work) -> None:
    """Copy what the recipe names out of its debs, with the links that it names in lib/.

    Libraries and modules look for others in the folders of the prefix that `search` names.
    Raises UsageError where a pattern matches nothing: the debs are not what the recipe expects.
    """
    extra = work.recipe.extra
    assert isinstance(extra, DebianFiles)
    source = work.scratch / "debs"
    unpack_all(work, source)
    ignored = shutil.ignore_patterns(*extra.left_out)
    for pattern, target in extra.files.items():
        _copy(source, pattern, work.root / target, ignored)
    for link, target in extra.links.items():
        (work.root / "lib" / link).symlink_to(target)
    copy_licences(source, work)
    for path in elf_files(work.root):
        if is_dynamic(path):
            call([PATCHELF, "--force-rpath", "--set-rpath", _rpath(path, work, extra), path])


def _copy(source: Path, pattern: str, target: Path, ignored: object) -> None:
    found = sorted(source.glob(pattern))
    if not found:
        raise UsageError(
            f"no {pattern} in the recipe's debs",
            fix="correct `extra.files` in the recipe, or the list of debs",
        )
    target.mkdir(parents=True, exist_ok=True)
    for path in found:
        if path.is_dir():
            shutil.copytree(path, target / path.name, ignore=ignored)  # type: ignore[arg-type]
        else:
            shutil.copy2(path, target / path.name, follow_symlinks=False)


def _rpath(path: Path, work: Work, extra: DebianFiles) -> str:
    relative = [os.path.relpath(work.root / folder, path.parent) for folder in extra.search]
    return ":".join("$ORIGIN" if name == "." else f"$ORIGIN/{name}" for name in relative)
