"""Lock files that only those who may write to their folder can hold, and who holds them."""

import fcntl
import math
import os
import re
import shlex
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

# Seconds between two attempts to take a lock, and before a message says who holds it.
POLL, PATIENCE = 0.05, 0.2
# Characters of a command line in a message.
LONGEST = 300


def acquire(
    lock: Path, operation: int, *, waiting_for: str = "", limit: float = math.inf
) -> int | None:
    """Take a lock file, made if it is missing; close the returned descriptor to release it.

    operation: fcntl.LOCK_EX or fcntl.LOCK_SH. waiting_for: what a message says while another
    process holds it. Returns None after `limit` seconds. Raises OSError if the person may not write
    to the lock's folder.
    """
    began = time.monotonic()
    message = f"waiting: {waiting_for}" if waiting_for else ""
    while True:
        descriptor = _open(lock)
        try:
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if not isinstance(error, BlockingIOError):
                raise
            waited = time.monotonic() - began
            if waited >= limit:
                return None
            if message and waited >= PATIENCE:
                print(f"{message} by {holders(lock)}", file=sys.stderr, flush=True)
                message = ""
            time.sleep(POLL)
            continue
        # Its last holder may have removed the file.
        if _is_same(lock, os.fstat(descriptor)):
            _sign(descriptor, operation)
            return descriptor
        os.close(descriptor)


def acquire_folder(folder: Path) -> int:
    """Take the lock of a folder itself, without waiting; close the descriptor to release it.

    Raises BlockingIOError if another process holds it, another OSError if the folder is missing, a
    link, of another person, or on a file system without such locks.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.stat(folder, follow_symlinks=False)  # noqa: PTH116
        if not os.path.samestat(status, os.fstat(descriptor)):
            raise FileNotFoundError(folder)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _open(lock: Path) -> int:
    """Open a lock file; its mode gives access to those who may write to its folder."""
    folder = lock.parent.stat()
    while True:
        with suppress(FileExistsError):
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # Where root makes it for a person, it is that person's.
            for owner in (folder.st_uid, -1):
                with suppress(OSError):
                    os.fchown(descriptor, owner, folder.st_gid)
                    break
            os.fchmod(descriptor, _mode(folder, os.fstat(descriptor)))
            return descriptor
        with suppress(FileNotFoundError):
            descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
            status = os.fstat(descriptor)
            # Earlier versions let everybody read it: whoever can, can hold it for ever.
            if status.st_uid == os.geteuid() and status.st_nlink == 1:
                os.fchmod(descriptor, _mode(folder, status))
            return descriptor


def _mode(folder: os.stat_result, lock: os.stat_result) -> int:
    """Return the mode of a lock file: those who may write to its folder read and write it."""
    group = folder.st_mode & stat.S_IWGRP and lock.st_gid == folder.st_gid
    others = folder.st_mode & stat.S_IWOTH
    return 0o600 | (0o060 if group else 0) | (0o006 if others else 0)


def _sign(descriptor: int, operation: int) -> None:
    """Write into a lock file, for others, which process has it; a full disk is no fault of it."""
    words = ["./invoke", *sys.argv[1:]] if sys.argv[0] == "-c" else sys.argv
    command = re.sub(r"//[^/@\s]*@", "//", " ".join(shlex.join(words).split()))
    shown = command if len(command) <= LONGEST else command[:LONGEST] + " ..."
    with suppress(OSError):
        text = os.pread(descriptor, 1 << 16, 0).decode(errors="replace")
        others = _living(text) if operation == fcntl.LOCK_SH else []
        text = "\n".join([*others, f"{os.getpid()}: {shown}"])
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(errors="replace"), 0)


def _living(text: str) -> list[str]:
    """Return the lines of a lock file that are of processes on this machine."""
    numbers = ((line.partition(":")[0], line) for line in text.splitlines())
    return [x for number, x in numbers if number.isdecimal() and Path("/proc", number).exists()]


def holders(lock: Path) -> str:
    """Return the processes that hold a lock file, for a message."""
    try:
        text = lock.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "a process that has ended"
    processes = "; ".join(f"process {line}" for line in _living(text))
    return processes or "a process that is not seen from here"


def _is_same(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), status)
    except OSError:
        return False
