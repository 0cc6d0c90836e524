"""Lock files that only those who may write to their folder can hold, and who holds them."""

from __future__ import annotations

import fcntl
import glob
import math
import os
import shlex
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

# Seconds between two attempts to take a lock, and before a message says who holds it.
POLL, PATIENCE = 0.05, 0.2
# How many processes a message names, and how many characters of each command line.
NAMED, LONGEST = 3, 300
# The end of the program that `./invoke` passes to Python, before the person's words.
OWN_PROGRAM = "from stacks.tasks.program import main"


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


def holders(lock: Path) -> str:
    """Return the processes that hold a lock file, for a message; of other users none is seen."""
    try:
        status = lock.stat()
    except OSError:
        return "a process that has ended"
    numbers = sorted(_holders(status))
    processes = [f"process {number}: {command(Path(f'/proc/{number}'))}" for number in numbers]
    more = f" and {len(processes) - NAMED} more" if len(processes) > NAMED else ""
    return "; ".join(processes[:NAMED]) + more or "a process of another user or machine"


def _holders(status: os.stat_result) -> set[int]:
    """Return the person's processes that hold a lock, also those that inherited it."""
    numbers = set()
    # Unlike Path.glob, it skips processes of other users and those that end meanwhile.
    for path in glob.glob("/proc/[0-9]*/fd/*"):  # noqa: PTH207
        if _is_same(path, status):
            with suppress(OSError):
                process, _, descriptor = path.removeprefix("/proc/").split("/")
                if "FLOCK" in Path(f"/proc/{process}/fdinfo/{descriptor}").read_text():
                    numbers.add(int(process))
    return numbers


def _is_same(path: str | Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)  # noqa: PTH116
    except OSError:
        return False


def command(process: Path) -> str:
    """Return the command line of a process, by its folder in /proc."""
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return "it has ended"
    for number, word in enumerate(words):
        if OWN_PROGRAM in word:
            is_checkout = Path(*words[number + 1 : number + 2], "invoke").exists()
            words = ["./invoke" if is_checkout else "theano-stacks", *words[number + 2 :]]
            break
    text = " ".join(shlex.join(words).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
