"""Locks on build/ and the cache, so that `./invoke clean` removes nothing that is in use."""

from __future__ import annotations

import fcntl
import glob
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments import prefix
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

# How many processes a message names, and how many characters of each command line.
NAMED, LONGEST = 3, 300
# The end of the program that `./invoke` passes to Python, before the person's words.
OWN_PROGRAM = "from stacks.tasks.program import main"

_held: dict[Path, int] = {}


class InUseError(StacksError):
    """Another process uses what was to be removed."""


def protect_build(workspace: Workspace, variant: Variant | None = None) -> None:
    """Protect build/, or a variant's part of it, from `clean` until this process ends."""
    hold_shared(lock_of_build(workspace))
    if variant:
        hold_shared(lock_of(workspace, variant))


def protect_cache(workspace: Workspace) -> None:
    """Protect the cache from `clean --cache` until this process ends."""
    hold_shared(lock_of_cache(workspace))


def lock_of_build(workspace: Workspace) -> Path:
    """Return the lock of build/."""
    return workspace.build.with_name(f".{workspace.build.name}.lock")


def lock_of_cache(workspace: Workspace) -> Path:
    """Return the lock of the cache; it is inside, because the parent may not be writable."""
    return workspace.cache / ".lock"


def lock_of(workspace: Workspace, variant: Variant) -> Path:
    """Return the lock of a variant's environment and reports, in addition to that of build/."""
    folder = prefix.folder_of(workspace, variant)
    return folder.with_name(f".{folder.name}.used")


def is_ready(workspace: Workspace, variant: Variant, locked: Lock) -> bool:
    """Return whether a variant's environment is built; if so, protect it from `clean`."""
    target = prefix.folder_of(workspace, variant)
    if not prefix.is_ready(workspace, variant, locked, target):
        return False
    protect_build(workspace, variant)
    # `clean` may have removed it before the lock was held.
    return prefix.is_ready(workspace, variant, locked, target)


def hold_shared(lock: Path) -> None:
    """Hold a lock until this process ends, shared with other users; wait while `clean` has it."""
    if lock in _held:
        return
    # A person without write permission makes nothing there, but can run programs.
    with suppress(OSError):
        current = False
        while not current:
            lock.parent.mkdir(parents=True, exist_ok=True)
            descriptor = _opened(lock)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                note = "waiting: `./invoke clean` removes what this uses"
                print(note, file=sys.stderr, flush=True)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            current = _is_current(descriptor, lock)
            if not current:
                os.close(descriptor)
        _held[lock] = descriptor


def keep_over_exec() -> None:
    """Keep the locks when another program replaces this process."""
    for descriptor in _held.values():
        os.set_inheritable(descriptor, True)


@contextmanager
def hold_exclusive(lock: Path, what: str) -> Iterator[None]:
    """Hold a lock alone for the block, then remove its file.

    Raises InUseError, with the processes, if others hold it.
    """
    with explain_disk_errors(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        current = False
        while not current:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                processes = users(descriptor)
                os.close(descriptor)
                raise InUseError(
                    f"{what} is in use: nothing was removed",
                    found=processes,
                    fix="wait until it ends, or stop it; then run this again",
                ) from None
            current = _is_current(descriptor, lock)
            if not current:
                os.close(descriptor)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            os.close(descriptor)


def users(descriptor: int) -> str:
    """Return the other processes that have a file open, for a message."""
    status = os.fstat(descriptor)
    # Unlike Path.glob, it skips processes of other users and those that end meanwhile.
    files = [path for path in glob.glob("/proc/[0-9]*/fd/*") if _is_same(path, status)]  # noqa: PTH207
    numbers = sorted({int(path.split("/")[2]) for path in files} - {os.getpid()})
    processes = [f"process {number}: {_command(Path(f'/proc/{number}'))}" for number in numbers]
    more = f" and {len(processes) - NAMED} more" if len(processes) > NAMED else ""
    return "; ".join(processes[:NAMED]) + more or "a process of another user or machine"


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return os.open(lock, os.O_RDONLY)


def _is_current(descriptor: int, lock: Path) -> bool:
    """Return whether an open file still has its name: a holder of the lock may have removed it."""
    return _is_same(lock, os.fstat(descriptor))


def _is_same(path: str | Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)  # noqa: PTH116
    except OSError:
        return False


def _command(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return "it has ended"
    for number, word in enumerate(words):
        if OWN_PROGRAM in word:
            words = ["./invoke", *words[number + 2 :]]
            break
    text = " ".join(shlex.join(words).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
