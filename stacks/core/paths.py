"""Paths that a person has typed, in an option, a variable or a file."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

from stacks.core.errors import UsageError


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
    return _seen(path, Path.is_file)


def is_dir(path: Path) -> bool:
    """Return whether a path leads to a folder; UsageError if that cannot be seen."""
    return _seen(path, Path.is_dir)


def exists(path: Path) -> bool:
    """Return whether a path leads to something; what cannot be seen counts as there."""
    try:
        return path.exists()
    except PermissionError:
        return True


def _seen(path: Path, test: Callable[[Path], bool]) -> bool:
    try:
        return test(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise UsageError(f"{path}: {error.strerror}", fix="choose one that you may read") from error
