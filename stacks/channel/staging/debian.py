"""Files out of Debian's binary packages."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from stacks.channel.staging.build_context import Work
from stacks.core.errors import UsageError
from stacks.sources import unpack

MULTIARCH = "x86_64-linux-gnu"
LIBRARY_FOLDERS = (f"usr/lib/{MULTIARCH}", f"lib/{MULTIARCH}")


def unpack_all(work: Work, target: Path) -> None:
    """Unpack every deb of the recipe over one another into `target`."""
    target.mkdir(parents=True, exist_ok=True)
    for name in work.debs:
        unpack.unpack_deb(work.sources[name], target)


def copy_libraries(source: Path, target: Path, patterns: Iterable[str]) -> None:
    """Copy the shared libraries, links as links, that match each of the patterns.

    Raises UsageError where a pattern matches nothing: the deb is not what the recipe expects.
    """
    target.mkdir(parents=True, exist_ok=True)
    for pattern in patterns:
        matches = [p for folder in LIBRARY_FOLDERS for p in sorted((source / folder).glob(pattern))]
        if not matches:
            raise UsageError(
                f"no library {pattern} in the recipe's debs",
                fix="correct `extra.libraries` in the recipe, or the list of debs",
            )
        for path in matches:
            if not (target / path.name).exists():
                shutil.copy2(path, target / path.name, follow_symlinks=False)


def copy_licences(source: Path, work: Work) -> None:
    """Keep the copyright file of every deb under share/licenses."""
    folder = work.root / "share/licenses" / work.recipe.package.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in work.debs:
        copyright_file = source / "usr/share/doc" / name / "copyright"
        if copyright_file.is_file():
            shutil.copyfile(copyright_file, folder / f"{name}.copyright")
