"""Find, copy, edit and remove files of a stage; symbolic links are never followed out of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from stacks.core.errors import IntegrityError, UsageError
from stacks.sources.unpack import leading_out


def matches(folders: Sequence[Path], pattern: str, fix: str) -> list[Path]:
    """Return the paths below folders that match a pattern, sorted; UsageError if there is none."""
    found = [path for folder in folders for path in sorted(folder.glob(pattern))]
    if not found:
        raise UsageError(f"no {pattern} in the recipe's sources", fix=fix)
    return found


def only(paths: Iterable[Path], what: str, fix: str = "pin another version") -> Path:
    """Return the only one of paths; IntegrityError, which names `what` they are, for another count.

    what: names the source and the kind of file.
    """
    found = [*paths]
    if len(found) != 1:
        names = ", ".join(path.name for path in found)
        raise IntegrityError(what, expected="exactly one", found=names or "none", fix=fix)
    return found[0]


def copy_tree(source: Path, target: Path, left_out: Sequence[str] = ()) -> None:
    """Copy a folder, links as links, to the new folder `target`.

    left_out: patterns of names of files and folders.
    """
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if any(fnmatch(path.name, pattern) for pattern in left_out):
            continue
        if path.is_dir() and not path.is_symlink():
            copy_tree(path, target / path.name, left_out)
        else:
            shutil.copy2(path, target / path.name, follow_symlinks=False)


def replace_once(path: Path, old: bytes, new: bytes, fix: str, *, in_place: bool = False) -> None:
    """Replace bytes of a file; IntegrityError unless they occur exactly once.

    in_place: whether nothing may move: there must be as many new bytes.
    """
    content, first = path.read_bytes(), old.strip().splitlines()[0]
    if content.count(old) != 1 or (in_place and len(old) != len(new)):
        raise IntegrityError(
            f"{path.name} is not the file that the recipe was written for",
            expected=f"once {first!r}" + (f", to become {new!r}, as long" if in_place else ""),
            found=f"{content.count(old)} times",
            fix=fix,
        )
    path.write_bytes(content.replace(old, new))


def prune(folder: Path, patterns: Iterable[str], kept: Container[str] = ()) -> None:
    """Remove what matches patterns below a folder, except what has one of the names `kept`."""
    # By its name alone, glob finds no broken link.
    for path in [p for pattern in patterns for p in [*folder.glob(pattern)] or [folder / pattern]]:
        if path.name not in kept:
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_broken_links(root: Path) -> None:
    """Remove the links below a folder whose target does not exist."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink() and not path.exists():
            path.unlink()


def check_links(root: Path) -> None:
    """Raise IntegrityError for a link below the package's folder that leads out of it.

    A stage calls this after it has copied links, before it writes to what it has copied.
    """
    for link in leading_out(root):
        raise IntegrityError(
            f"{link.relative_to(root)}: the link leads out of the package",
            found=os.fspath(link.readlink()),
            fix="leave it out in the recipe, or pin another version of its source",
        )
