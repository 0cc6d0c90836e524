"""Unpack Debian's binary packages, and copy libraries and licences out of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from stacks.channel.staging.build_context import BuildContext
from stacks.core.errors import IntegrityError, UsageError
from stacks.sources.links import make_relative
from stacks.sources.unpack import unpack_deb

MULTIARCH = "x86_64-linux-gnu"
LIBRARY_FOLDERS = (f"usr/lib/{MULTIARCH}", f"lib/{MULTIARCH}")


def unpack_all(context: BuildContext, target: Path) -> None:
    """Unpack every deb of the recipe, one over another, into `target`.

    Absolute links become relative ones to `target`, so that all links lead to files below it.
    """
    target.mkdir(parents=True, exist_ok=True)
    for name in context.debs:
        unpack_deb(context.sources[name], target)
    make_relative(target)


def copy_libraries(source: Path, target: Path, patterns: Iterable[str]) -> None:
    """Copy the shared libraries, links as links, that match any of the patterns.

    `source` is the folder of the unpacked debs. Raises UsageError for a pattern without a match,
    IntegrityError for a link to another folder.
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
            # A link to another folder would have another meaning in the package.
            if path.is_symlink() and len(path.readlink().parts) != 1:
                raise IntegrityError(
                    f"{path.relative_to(source)}: the link of a library leads to another folder",
                    found=path.readlink(),
                    fix="correct `extra.libraries` in the recipe, or pin another version",
                )
            if not (target / path.name).exists():
                shutil.copy2(path, target / path.name, follow_symlinks=False)


def copy_licences(source: Path, context: BuildContext) -> None:
    """Copy the copyright file of every deb to share/licenses."""
    context.licences.mkdir(parents=True, exist_ok=True)
    for name in context.debs:
        copyright_file = source / "usr/share/doc" / name / "copyright"
        if copyright_file.is_file():
            shutil.copyfile(copyright_file, context.licences / f"{name}.copyright")
