"""Paths that a person has typed, in an option, a variable or a file."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable
from pathlib import Path

from stacks.core.errors import UsageError

ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)


def expanded(text: str) -> Path:
    """Return the path that a text names, `~` and `~user` replaced; UsageError if that fails."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UsageError(
            f"{text}: no home folder of that name", fix="write the path without ~"
        ) from error


def is_file(path: Path) -> bool:
    """Return whether a path leads to a file; UsageError if that cannot be seen."""
    return _is(path, stat.S_ISREG)


def is_dir(path: Path) -> bool:
    """Return whether a path leads to a folder; UsageError if that cannot be seen."""
    return _is(path, stat.S_ISDIR)


def exists(path: Path) -> bool:
    """Return whether a path leads to something; what cannot be seen counts as there."""
    try:
        path.stat()
    except OSError as error:
        return error.errno not in ABSENT
    return True


def check_replaceable(target: Path) -> None:
    """Raise UsageError if something else than a file or a folder is at a path."""
    if target.exists() and not target.is_file() and not target.is_dir():
        raise UsageError(
            f"{target} is a device or a pipe, which cannot be replaced",
            fix="choose the name of a file",
        )


def check_working_folder(folder: Path) -> None:
    """Raise UsageError if a folder that is to be replaced is, or has, the working folder."""
    if Path.cwd().is_relative_to(folder):
        raise UsageError(
            f"{folder} is the folder that you stand in, and is to be replaced",
            fix="write it from another folder",
        )


def _is(path: Path, kind: Callable[[int], bool]) -> bool:
    # Path.is_file and the like are false for what may not be seen, from Python 3.14 on.
    try:
        return kind(path.stat().st_mode)
    except OSError as error:
        if error.errno in ABSENT:
            return False
        raise UsageError(f"{path}: {error.strerror}", fix="choose one that you may read") from error
