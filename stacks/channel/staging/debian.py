"""Unpack Debian's binary packages, and copy libraries and licences out of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from stacks.channel.build_context import BuildContext
from stacks.core.errors import IntegrityError, UsageError
from stacks.sources.links import make_relative
from stacks.sources.unpack import unpack_deb

MULTIARCH = "x86_64-linux-gnu"
# The deb with the texts of common licences, to which copyright files refer by this path.
TEXTS_DEB = "base-files"
TEXTS = "usr/share/common-licenses"
TEXT = re.compile(rf"/{TEXTS}/([A-Za-z0-9][A-Za-z0-9.+-]*[A-Za-z0-9])")
LIBRARY_FOLDERS = (f"usr/lib/{MULTIARCH}", f"lib/{MULTIARCH}")


def unpack_debs(context: BuildContext, target: Path | None = None) -> Path:
    """Unpack every deb of the recipe but TEXTS_DEB, one over another; return the folder.

    It is `target`, by default `context.unpacked`. Absolute links become relative ones to it, so
    that all links lead to files below it.
    """
    target = target or context.unpacked
    target.mkdir(parents=True, exist_ok=True)
    for name in context.debs:
        if name != TEXTS_DEB:
            unpack_deb(context.sources[name], target)
    make_relative(target)
    return target


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


def copy_licences(source: Path, context: BuildContext, left_out: Sequence[str] = ()) -> None:
    """Copy the copyright file of every deb to share/licenses, and the texts that they refer to.

    left_out: debs of which nothing is in the package. Debs of one source package may share the
    file: the folder of one is a link to another's. Raises IntegrityError where a file is in a deb
    that the recipe does not name.
    """
    context.licences.mkdir(parents=True, exist_ok=True)
    texts = set()
    for name in context.debs:
        if name == TEXTS_DEB or name in left_out:
            continue
        folder = source / "usr/share/doc" / name
        owner = folder.readlink().name if folder.is_symlink() else name
        if owner not in context.debs or not (folder / "copyright").is_file():
            raise IntegrityError(
                f"the deb {name} has no copyright file",
                expected=f"usr/share/doc/{owner}/copyright",
                fix="pin another version"
                if owner == name
                else f"add {owner} to the debs of the recipe",
            )
        if owner == name:
            target = context.licences / f"{name}.copyright"
            shutil.copyfile(folder / "copyright", target)
            texts |= set(TEXT.findall(target.read_text(encoding="utf-8", errors="replace")))
    _copy_texts(context, texts)


def _copy_texts(context: BuildContext, texts: Iterable[str]) -> None:
    """Copy the texts of common licences out of TEXTS_DEB."""
    folder = context.scratch / "texts"
    if TEXTS_DEB in context.debs:
        unpack_deb(context.sources[TEXTS_DEB], folder)
    for name in sorted(texts):
        text = folder / TEXTS / name
        if not text.is_file():
            raise IntegrityError(
                f"a deb's copyright file refers to the text of {name}, which is in no deb",
                expected=f"{TEXTS}/{name}",
                fix=f"add {TEXTS_DEB} to the debs of the recipe",
            )
        shutil.copyfile(text, context.licences / name)
