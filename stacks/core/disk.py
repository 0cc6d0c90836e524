"""Files and folders: checksums, atomic replacement, locks, errors of the disk."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stacks.core.errors import IntegrityError, StacksError

REPOSITORY = Path(__file__).resolve().parents[2]


class DiskError(StacksError):
    """The disk is full or read-only, or permission is missing."""


def cache_root() -> Path:
    """Return the folder of everything that can be fetched or built again.

    `THEANO_STACKS_CACHE`, else `$XDG_CACHE_HOME/theano-stacks`, else `~/.cache/theano-stacks`.
    """
    folder = os.environ.get("THEANO_STACKS_CACHE")
    if folder:
        return Path(folder).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    if base.startswith("~"):
        raise DiskError(
            "the cache has no folder: there is no home folder",
            fix="set THEANO_STACKS_CACHE to a folder that you may write",
        )
    return Path(base).absolute() / "theano-stacks"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def check_sha256(path: Path, expected: str, *, fix: str) -> None:
    """Raise IntegrityError unless the file's SHA-256 is the expected one."""
    digest = sha256_of(path)
    if digest != expected:
        raise IntegrityError(
            f"{path}: its bytes are not the pinned ones",
            expected=f"sha256 {expected}",
            found=f"sha256 {digest}",
            fix=fix,
        )


@contextmanager
def explain_disk_errors(path: Path) -> Iterator[None]:
    """Turn an OSError of a full, read-only or forbidden disk into a DiskError with a fix."""
    try:
        yield
    except OSError as error:
        disk = disk_error(error, path)
        if disk is None:
            raise
        raise disk from error


def disk_error(error: OSError, path: Path) -> DiskError | None:
    """Return the DiskError for an OSError, None if it has another cause.

    path: named in the message if the error itself names no file.
    """
    path = Path(os.fsdecode(error.filename or path))
    other = _other_folder(path)
    fix = {
        errno.ENOSPC: f"free some space, or {other} on another disk",
        errno.EDQUOT: f"your quota is used up: free some space, or {other} on another disk",
        errno.EFBIG: f"the disk or `ulimit -f` allows no larger file: {other} on another disk",
        errno.EROFS: f"{other} that can be written",
        errno.EACCES: f"{other} that you may write",
        errno.EPERM: f"{other} that you may write",
        errno.ENOTDIR: "a file stands where a folder is needed: move it away",
    }.get(error.errno or 0)
    return DiskError(f"{path}: {error.strerror}", fix=fix) if fix else None


def _other_folder(path: Path) -> str:
    """Return how a person chooses another folder for a path."""
    if path.is_relative_to(cache_root()):
        return "set THEANO_STACKS_CACHE to a folder"
    if path.is_relative_to(REPOSITORY):
        return "use a checkout in a folder"
    if path.is_relative_to(os.environ.get("TMPDIR") or "/tmp"):  # noqa: S108
        return "set TMPDIR to a folder"
    return "choose a folder"


@contextmanager
def replace_atomically(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; rename it onto `target` if the block succeeds.

    The block makes a file or a folder there. If it fails, its output is removed and `target` stays
    as it was. A folder at `target` is replaced.
    """
    with temporary_folder(target) as folder:
        new = folder / target.name
        yield new
        old = folder / "replaced"
        if target.is_dir() and not target.is_symlink():
            target.rename(old)
        try:
            new.replace(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Give a new folder beside `target`, on its file system; it is removed at the end."""
    with explain_disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(
            tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        )
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def write_atomically(target: Path, data: bytes | str) -> None:
    """Write a file; other readers see the old bytes or the new ones, never a part."""
    with replace_atomically(target) as path:
        path.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a temporary folder for the block; DiskError if none can be made."""
    parent = Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108
    with explain_disk_errors(parent):
        try:
            folder = tempfile.TemporaryDirectory()
        except FileNotFoundError as error:
            raise DiskError(
                f"a temporary folder cannot be made: {error.strerror}",
                fix="free some space there, or set TMPDIR to a folder that you may write",
            ) from error
        with folder as name:
            yield Path(name)


@contextmanager
def fixed_umask() -> Iterator[None]:
    """Make files with the same modes whatever the user's umask is."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def hold_lock(target: Path, what: str) -> Iterator[None]:
    """Hold the lock of `target` for the block; wait with a message while another process has it.

    Temporary files of killed processes beside `target` are removed first.
    """
    with explain_disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with (target.parent / f".{target.name}.lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting: {what} is being made", file=sys.stderr, flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            # Eight characters, as mkdtemp adds: `a` must not remove the files of `a.b`.
            for left in target.parent.glob(f".{target.name}.{'?' * 8}.part"):
                shutil.rmtree(left, ignore_errors=True)
            yield
