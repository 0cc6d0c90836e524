"""Who uses build/ and the cache, so that `./invoke clean` removes nothing under its feet."""

from __future__ import annotations

import fcntl
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stacks.core.disk import explained
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments import prefix
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

# How many of those who use something are named, and how much of each one's command line.
NAMED, LONGEST = 3, 300
# What `./invoke` has as its Python's own words, before those that a person has typed.
OWN_PROGRAM = "from stacks.tasks.program import main"

_held: dict[Path, int] = {}


class InUseError(StacksError):
    """What was to be removed is used by another process."""


def use_build(workspace: Workspace, variant: Variant | None = None) -> None:
    """Keep `clean` off build/, or off one variant's part of it, until this process ends."""
    use(lock_of_build(workspace))
    if variant:
        use(lock_of(workspace, variant))


def use_cache(workspace: Workspace) -> None:
    """Keep `clean --cache` off the cache until this process ends."""
    use(lock_of_cache(workspace))


def lock_of_build(
    workspace: Workspace,
) -> Path:
    """Return the lock of all that lies in build/."""
    return workspace.build.with_name(f".{workspace.build.name}.lock")


def lock_of_cache(workspace: Workspace) -> Path:
    """Return the lock of the cache. It lies inside: the folder above may be somebody else's."""
    return workspace.cache / ".lock"


def lock_of(workspace: Workspace, variant: Variant) -> Path:
    """Return the lock of a variant's environment and reports, for those who have build/'s, too."""
    place = prefix.place_of(workspace, variant)
    return place.with_name(f".{place.name}.used")


def is_ready(workspace: Workspace, variant: Variant, locked: Lock) -> bool:
    """Say whether a variant's environment stands at its place; if so, keep `clean` off it."""
    target = prefix.place_of(workspace, variant)
    if not prefix.is_ready(workspace, variant, locked, target):
        return False
    use_build(workspace, variant)
    # Until then `clean` may have removed it.
    return prefix.is_ready(workspace, variant, locked, target)


def use(lock: Path) -> None:
    """Hold a lock beside all others that use the same, until this process ends.

    While what it stands for is removed, say so and wait.
    """
    if lock in _held:
        return
    # Who may not write there makes nothing there; a program can be run there all the same.
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
    """Let the program that takes this process's place go on holding what it holds."""
    for descriptor in _held.values():
        os.set_inheritable(descriptor, True)


@contextmanager
def unused(lock: Path, what: str) -> Iterator[None]:
    """Let nobody begin to use something; raise InUseError, naming who does, where it is used.

    In the end the lock's file is removed, too.
    """
    with explained(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        current = False
        while not current:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                found = users(descriptor)
                os.close(descriptor)
                raise InUseError(
                    f"{what} is in use: nothing was removed",
                    found=found,
                    fix="wait until that has ended, or stop it; then run this again",
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
    """Return which other processes have a file open, in words."""
    wanted = os.fstat(descriptor)
    found = [
        f"process {folder.name}: {_command(folder)}"
        for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name))
        if int(folder.name) != os.getpid() and _has_open(folder, wanted)
    ]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    # Another user's processes cannot be looked at, nor those of another machine.
    return "; ".join(found[:NAMED]) + more or "a process of another user or machine"


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return os.open(lock, os.O_RDONLY)


def _is_current(descriptor: int, lock: Path) -> bool:
    """Say whether a file is still the one by its name: who removed that held the lock, too."""
    try:
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    except FileNotFoundError:
        return False


def _has_open(process: Path, wanted: os.stat_result) -> bool:
    try:
        names = list((process / "fd").iterdir())
    except OSError:
        return False
    return any(_is_same(name, wanted) for name in names)


def _is_same(name: Path, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(name.stat(), wanted)
    except OSError:
        return False


def _command(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return "ended by now"
    for place, word in enumerate(words):
        if OWN_PROGRAM in word:
            words = ["./invoke", *words[place + 2 :]]
            break
    text = " ".join(shlex.join(words).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
