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

from stacks.core.errors import IntegrityError, StacksError

REPOSITORY = Path(__file__).resolve().parents[2]


class DiskError(StacksError):
    """The disk refused: no space, no permission, a read-only file system."""


def cache_root() -> Path:
    """Return the folder of everything that can be fetched or built again.

    `THEANO_STACKS_CACHE`, else `$XDG_CACHE_HOME/theano-stacks`, else `~/.cache/theano-stacks`.
    """
    chosen = os.environ.get("THEANO_STACKS_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    if base.startswith("~"):
        raise DiskError(
            "there is no home folder to keep the cache in",
            fix="set THEANO_STACKS_CACHE to a folder that you may write",
        )
    return Path(base).absolute() / "theano-stacks"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def check_sha256(path: Path, expected: str, *, fix: str) -> None:
    """Raise IntegrityError unless the file's SHA-256 is the expected one."""
    found = sha256_of(path)
    if found != expected:
        raise IntegrityError(
            f"{path}: its bytes are not the pinned ones",
            expected=f"sha256 {expected}",
            found=f"sha256 {found}",
            fix=fix,
        )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the disk's own refusals into a DiskError that names the place and the fix."""
    try:
        yield
    except OSError as error:
        refused = refusal(error, path)
        if refused is None:
            raise
        raise refused from error


def refusal(error: OSError, path: Path) -> DiskError | None:
    """Return what to say of an error where it was the disk that refused, else None.

    `path` is named where the error itself names no file.
    """
    place = Path(os.fsdecode(error.filename or path))
    other = _other_folder(place)
    fix = {
        errno.ENOSPC: f"free some space, or {other} on another disk",
        errno.EDQUOT: f"your quota is used up: free some space, or {other} on another disk",
        errno.EFBIG: f"the disk or `ulimit -f` allows no larger file: {other} on another disk",
        errno.EROFS: f"{other} that can be written",
        errno.EACCES: f"{other} that you may write",
        errno.EPERM: f"{other} that you may write",
        errno.ENOTDIR: "a file stands where a folder is needed: move it away",
    }.get(error.errno or 0)
    return DiskError(f"{place}: {error.strerror}", fix=fix) if fix else None


def _other_folder(place: Path) -> str:
    """Return how another folder is chosen for what lies at a place."""
    if place.is_relative_to(cache_root()):
        return "set THEANO_STACKS_CACHE to a folder"
    if place.is_relative_to(REPOSITORY):
        return "use a checkout in a folder"
    if place.is_relative_to(os.environ.get("TMPDIR") or "/tmp"):  # noqa: S108
        return "set TMPDIR to a folder"
    return "choose a folder"


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
            old = room / "replaced"
            if target.is_dir() and not target.is_symlink():
                target.rename(old)
            try:
                made.replace(target)
            except OSError:
                if old.exists():
                    old.rename(target)
                raise
        finally:
            shutil.rmtree(room, ignore_errors=True)


def write_whole(target: Path, data: bytes | str) -> None:
    """Write a file so that other readers see the old bytes or the new ones, never a part."""
    with aside(target) as made:
        made.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a temporary folder that is removed in the end; DiskError where there can be none."""
    chosen = Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108
    with explained(chosen):
        try:
            folder = tempfile.TemporaryDirectory()
        except FileNotFoundError as error:
            raise DiskError(
                f"no temporary folder can be made: {error.strerror}",
                fix="free some space there, or set TMPDIR to a folder that you may write",
            ) from error
        with folder as name:
            yield Path(name)


@contextmanager
def same_modes() -> Iterator[None]:
    """Let no umask of the user's decide the modes of what is made."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def locked(target: Path, what: str) -> Iterator[None]:
    """Hold the lock of `target`; where another process, of any build, holds it, say so and wait.

    What a killed process left half-made beside `target` is removed once the lock is held.
    """
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with (target.parent / f".{target.name}.lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting: {what} is being made", file=sys.stderr, flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            # As long as what mkdtemp adds: `a` must not remove what is under way for `a.b`.
            for left in target.parent.glob(f".{target.name}.{'?' * 8}.part"):
                shutil.rmtree(left, ignore_errors=True)
            yield
