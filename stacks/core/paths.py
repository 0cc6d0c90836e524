"""Paths that a person has typed, in an option, a variable or a file; the folders of the user.

And exchanging what two paths name.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from stacks.core.errors import DiskError, UsageError

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


# What may be at a path in place of a file.
KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


def check_is_file(path: Path, name: str, *, fix: str | None = None, folder: bool = False) -> None:
    """Raise UsageError for something else than a file: who reads a pipe may wait for ever.

    name: the path, or what names it, for the message. folder: it may be a folder. What is missing,
    may not be seen, or is /dev/null is left to who reads it.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    kind = next((kind for test, kind in KINDS if test(mode)), None)
    if kind and str(path) != os.devnull and not (folder and kind == "a folder"):
        raise UsageError(f"{name} is {kind}", expected="a file", fix=fix)


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


def cache_root() -> Path:
    """Return the folder of everything that can be fetched or built again.

    `THEANO_STACKS_CACHE`, else `$XDG_CACHE_HOME/theano-stacks`, else `~/.cache/theano-stacks`.
    """
    return user_folder("cache", "XDG_CACHE_HOME", "~/.cache", "THEANO_STACKS_CACHE")


def home_root() -> Path:
    """Return the folder of what the installed command makes: environments, reports, results.

    `THEANO_STACKS_HOME`, else `$XDG_DATA_HOME/theano-stacks`, else `~/.local/share/theano-stacks`.
    """
    return user_folder("home", "XDG_DATA_HOME", "~/.local/share", "THEANO_STACKS_HOME")


def user_folder(what: str, parent_variable: str, parent: str, variable: str) -> Path:
    """Return the user's folder of this project below the folder that `parent_variable` names.

    parent: where that is by default. variable: names another folder for all of it. Raises DiskError
    if there is no home folder.
    """
    if folder := os.environ.get(variable):
        return expanded(folder).absolute()
    base = os.environ.get(parent_variable) or os.path.expanduser(parent)  # noqa: PTH111
    if base.startswith("~"):
        raise DiskError(
            f"the {what} has no folder: there is no home folder",
            fix=f"set {variable} to a folder that you may write",
        )
    return Path(base).absolute() / "theano-stacks"


def is_writable(folder: Path) -> bool:
    """Return whether a folder may be written, or be made if it is missing."""
    return os.access(next(p for p in (folder, *folder.parents) if p.is_dir()), os.W_OK)


# From linux/fs.h and fcntl.h.
RENAME_EXCHANGE, AT_FDCWD = 2, -100
# What the call fails with where the kernel, the C library or the file system lacks it; EXDEV is of
# overlayfs, for a folder from a lower layer.
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EXDEV)


def exchange(first: Path, second: Path) -> bool:
    """Exchange what two paths name; both must exist, on one file system.

    Returns False, and changes nothing, where the system cannot do it. Raises OSError as a rename
    does. Source: the manual page rename(2).
    """
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    names = os.fsencode(first), os.fsencode(second)
    if renameat2 and renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno() if renameat2 else errno.ENOSYS
    if number in UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(second))
