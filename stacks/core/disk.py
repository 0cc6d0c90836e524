"""Files and folders: checksums, atomic replacement, locks, errors of the disk."""

import errno
import fcntl
import glob
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from stacks.core.errors import DiskError
from stacks.core.locking import acquire, acquire_folder
from stacks.core.paths import cache_root, check_replaceable, exchange, home_root
from stacks.core.process import put_off

REPOSITORY = Path(__file__).resolve().parents[2]
# Whether that is the package of the wheel, which holds the same files, and not a checkout.
INSTALLED = REPOSITORY.name == "theano_stacks" and not (REPOSITORY / "invoke").exists()
# How the names of temporary folders in TMPDIR begin; no person's or program's own begin so.
TMP = "theano-stacks-scratch-"
# Between attempts to remove one after an interrupt. Seconds.
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 0.8)
# In a temporary folder: what was at the path that it replaces.
REPLACED = "replaced"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def explain_disk_errors(path: Path) -> Iterator[None]:
    """Turn an OSError of a disk, or of a limit of this process, into a DiskError with a fix."""
    try:
        yield
    except OSError as error:
        if not (disk := disk_error(error, path)):
            raise
        raise disk from error


def disk_error(error: Exception, path: Path) -> DiskError | None:
    """Return the DiskError for an error of a disk or a limit, None if it has another cause.

    path: named in the message if the error itself names no file.
    """
    if isinstance(error, MemoryError):
        error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        error = OSError(errno.EAGAIN, str(error))
    if not isinstance(error, OSError):
        return None
    path = Path(os.fsdecode(error.filename or path))
    other = _other_folder(path)
    fix = {
        errno.ENOSPC: f"free some space, or {other} on another disk",
        errno.EDQUOT: f"your quota is used up: free some space, or {other} on another disk",
        errno.EFBIG: f"the disk or `ulimit -f` allows no larger file: {other} on another disk",
        errno.EROFS: f"{other} that can be written",
        **dict.fromkeys((errno.EACCES, errno.EPERM), f"{other} that you may write"),
        errno.EEXIST: "a file, or a link to nothing, stands where a folder is needed: move it away",
        errno.ENOTDIR: "a file stands where a folder is needed: move it away",
        errno.EISDIR: "a folder stands where a file is needed: move it away",
        errno.ELOOP: "a symbolic link leads to itself: remove it",
        errno.ENAMETOOLONG: "choose a shorter name",
        errno.EMFILE: "raise the limit of open files: ulimit -n 4096",
        errno.ENFILE: "end other programs: the system has too many files open",
        errno.EAGAIN: "raise the limit of processes (ulimit -u) or memory (-v), or end programs",
        errno.ENOMEM: "free some memory, or raise its limit (ulimit -v, the container's)",
        **dict.fromkeys(
            (errno.EIO, errno.ESTALE, errno.ENOTCONN),
            f"the disk, or the network behind it, fails: see the system's log, or {other} on "
            "another disk",
        ),
        **dict.fromkeys(
            (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP), f"{other} on another file system"
        ),
    }.get(error.errno or 0)
    return DiskError(f"{path}: {error.strerror}", fix=fix) if fix else None


def _other_folder(path: Path) -> str:
    """Return how a person chooses another folder for a path."""
    if path.is_relative_to(cache_root()):
        return "set THEANO_STACKS_CACHE to a folder"
    if INSTALLED and path.is_relative_to(home_root()):
        return "set THEANO_STACKS_HOME to a folder"
    if path.is_relative_to(REPOSITORY):
        return "use a checkout in a folder"
    temporary = Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108
    if path == temporary or any(part.startswith(TMP) for part in path.parts):
        return "set TMPDIR to a folder"
    return "choose a folder"


@contextmanager
def replace_atomically(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; put it in place of `target` if the block succeeds.

    The block makes a file or a folder there. If it fails, `target` stays as it was. A folder is
    exchanged in one step, where the file system can do that. UsageError for a device or a pipe.
    """
    with explain_disk_errors(target):
        check_replaceable(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        # pathlib's own follows links until Python 3.12.
        if os.path.ismount(target):
            fix = "choose a folder inside of it"
            raise DiskError(f"{target} is a mount point, which cannot be replaced", fix=fix)
        remove_leftovers(target)
        with temporary_folder(target.parent, f".{target.name}.", ".part") as folder:
            new = folder / target.name
            yield new
            if target.is_symlink() or not target.is_dir():
                new.replace(target)
            elif not exchange(new, target):
                _rename_twice(new, target)


def _rename_twice(new: Path, target: Path) -> None:
    """Put a path in place of a folder where the two cannot be exchanged."""
    note = f"note: {target.parent}: its file system cannot exchange folders"
    print(f"{note}: {target.name} is missing for a moment", file=sys.stderr, flush=True)
    old = new.with_name(REPLACED)
    try:
        target.rename(old)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # On overlayfs, a folder from a lower layer can only be copied.
        shutil.copytree(target, old, symlinks=True)
    try:
        if target.exists():
            shutil.rmtree(target)
        new.replace(target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        old.rename(target)
        raise


@contextmanager
def temporary_folder(parent: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Give a new folder in `parent` for the block, then remove it.

    A lock on it tells others that it is in use, and ends with this process. Raises DiskError if the
    block fails because it was removed.
    """
    with ExitStack() as stack:
        # An interrupt between the two would leave a folder that nobody knows.
        with put_off():
            folder, descriptor = _new_folder(parent, prefix, suffix)
            if descriptor is not None:
                stack.callback(os.close, descriptor)
            stack.callback(_remove, folder)
        try:
            yield folder
        except FileNotFoundError as error:
            if folder.exists():
                raise
            raise DiskError(f"{folder} was removed meanwhile", fix="run it again") from error


def _remove(folder: Path) -> None:
    """Remove a temporary folder whole, also if an interrupt ends its block, or comes meanwhile."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        if isinstance(sys.exc_info()[1], (KeyboardInterrupt, SystemExit)):
            # Threads of rattler, and compilers that are being killed, still make files.
            for seconds in PAUSES:
                time.sleep(seconds)
                if not folder.exists():
                    break
                shutil.rmtree(folder, ignore_errors=True)


def _new_folder(parent: Path, prefix: str, suffix: str) -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, suffix=suffix, dir=parent))
        try:
            return folder, acquire_folder(folder)
        except (BlockingIOError, FileNotFoundError):
            # Another process saw it without its lock, and removes it as left over.
            continue
        except OSError:
            # A file system without such locks.
            return folder, None


def remove_leftovers(target: Path) -> None:
    """Remove the temporary folders beside a path that killed processes have left.

    What _rename_twice has moved there is put back.
    """
    # Eight characters, as mkdtemp adds: `a` must not remove the files of `a.b`.
    for left in target.parent.glob(f".{glob.escape(target.name)}.{'?' * 8}.part"):
        remove_leftover(left, target)


def remove_leftover(folder: Path, target: Path | None = None) -> bool:
    """Remove a temporary folder unless a process uses it, and return whether it was removed.

    target: the path that it was to replace; it is put back if that process had moved it away.
    """
    try:
        descriptor = acquire_folder(folder)
    except OSError:
        return False
    try:
        if target and not os.path.lexists(target) and (folder / REPLACED).exists():
            (folder / REPLACED).rename(target)
        _remove(folder)
    finally:
        os.close(descriptor)
    return not folder.exists()


def write_atomically(target: Path, data: bytes | str) -> None:
    """Write a file; other readers see the old bytes or the new ones, never a part.

    A device or a pipe is written to. Raises DiskError for a folder, which stays as it is.
    """
    content = data.encode() if isinstance(data, str) else data
    with explain_disk_errors(target):
        if target.is_dir():
            if not target.is_symlink():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        elif target.exists() and not target.is_file():
            target.write_bytes(content)
            return
    with replace_atomically(target) as path:
        path.write_bytes(content)


@contextmanager
def tmp_folder() -> Iterator[Path]:
    """Give a temporary folder for the block; DiskError if none can be made."""
    with explain_disk_errors(Path(os.environ.get("TMPDIR") or "/tmp")):  # noqa: S108
        if (chosen := tmp_parent()) is None:
            what = "a temporary folder cannot be made: none that may be written"
            raise DiskError(what, fix="set TMPDIR to a folder that you may write")
        with temporary_folder(chosen, TMP) as folder:
            yield folder


def tmp_parent() -> Path | None:
    """Return the folder for temporary files, TMPDIR or what systems have; None if there is none.

    Python's own choice writes a file to try a folder, which stays if the process is killed then.
    """
    names = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    folders = [Path(name) for name in (*names, "/tmp", "/var/tmp") if name]  # noqa: S108
    usable = (folder for folder in folders if folder.is_dir() and os.access(folder, os.W_OK))
    return next((folder.absolute() for folder in usable), None)


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

    Temporary folders of killed processes beside `target` are removed first.
    """
    with explain_disk_errors(target):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except FileNotFoundError as error:
            # As /proc refuses it, and an automounter for what it does not know.
            fix = f"{_other_folder(target)} that can be made"
            raise DiskError(f"{error.filename}: no folder can be made there", fix=fix) from error
        lock = target.with_name(f".{target.name}.lock")
        descriptor = acquire(lock, fcntl.LOCK_EX, waiting_for=f"{what} is being made")
        assert descriptor is not None
        try:
            remove_leftovers(target)
            yield
        finally:
            os.close(descriptor)
