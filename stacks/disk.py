"""Where things lie on disk, and how they come there whole or not at all."""

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

from stacks.errors import IntegrityError, StacksError

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / "build"


class DiskError(StacksError):
    """The disk refused: no space, no permission, a read-only file system."""


def cache_root() -> Path:
    """Return the folder of everything that can be fetched or built again.

    `THEANO_STACKS_CACHE`, else `$XDG_CACHE_HOME/theano-stacks`, else `~/.cache/theano-stacks`.
    """
    chosen = os.environ.get("THEANO_STACKS_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "theano-stacks"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def check_sha256(path: Path, expected: str, *, mend: str) -> None:
    """Raise IntegrityError unless the file's SHA-256 is the expected one."""
    found = sha256_of(path)
    if found != expected:
        raise IntegrityError(
            f"{path}: its bytes are not the pinned ones",
            expected=f"sha256 {expected}",
            found=f"sha256 {found}",
            mend=mend,
        )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the disk's own refusals into a DiskError that names the place and the mend."""
    try:
        yield
    except OSError as error:
        mends = {
            errno.ENOSPC: "free some space, or set THEANO_STACKS_CACHE to a folder on another disk",
            errno.EDQUOT: "your quota is used up: free some space, or set THEANO_STACKS_CACHE "
            "to a folder on another disk",
            errno.EFBIG: "the file system or `ulimit -f` allows no larger file: set "
            "THEANO_STACKS_CACHE to a folder on another disk",
            errno.EROFS: "set THEANO_STACKS_CACHE to a folder that can be written",
            errno.EACCES: "set THEANO_STACKS_CACHE to a folder that you may write",
            errno.EPERM: "set THEANO_STACKS_CACHE to a folder that you may write",
            errno.ENOTDIR: "a file stands where a folder is needed: move it away",
        }
        if error.errno not in mends:
            raise
        place = error.filename or path
        raise DiskError(f"{place}: {error.strerror}", mend=mends[error.errno]) from error


@contextmanager
def aside(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; rename it onto `target` when the block ends well.

    The block makes a file or a folder there. Where it fails, what it made is removed and `target`
    is as it was. A folder that stands at `target` already is replaced.
    """
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        room = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
        try:
            made = room / target.name
            yield made
            if target.is_dir() and not target.is_symlink():
                target.rename(room / "replaced")
            made.replace(target)
        finally:
            shutil.rmtree(room, ignore_errors=True)


def write_whole(target: Path, data: bytes | str) -> None:
    """Write a file so that other readers see the old bytes or the new ones, never a part."""
    with aside(target) as made:
        made.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def locked(target: Path, what: str) -> Iterator[None]:
    """Hold the lock of `target`; where another process holds it, say so and wait.

    What a killed process left half-made beside `target` is removed once the lock is held.
    """
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with (target.parent / f".{target.name}.lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting: another process is making {what}", file=sys.stderr, flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            for left in target.parent.glob(f".{target.name}.*.part"):
                shutil.rmtree(left, ignore_errors=True)
            yield
