"""Locks on build/ and the cache, so that `./invoke clean` removes nothing that is in use."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import StacksError
from stacks.core.locking import acquire, holders
from stacks.core.workspace import Workspace
from stacks.environments.folders import folder_of
from stacks.variants.variant import Variant

# Seconds that a task waits for a removal: far more than that of the largest cache takes.
LIMIT = 600.0

_held: dict[Path, int] = {}


class InUseError(StacksError):
    """Another process uses what was to be removed."""


def protect_build(workspace: Workspace, variant: Variant | None = None) -> None:
    """Protect build/, or a variant's part of it, from `clean` until this process ends."""
    hold_shared(lock_of_build(workspace))
    if variant:
        hold_shared(lock_of(folder_of(workspace, variant)))


def protect_cache(workspace: Workspace) -> None:
    """Protect the cache from `clean --cache` until this process ends."""
    hold_shared(lock_of_cache(workspace))


def lock_of_build(workspace: Workspace) -> Path:
    """Return the lock of build/."""
    return workspace.build.with_name(f".{workspace.build.name}.lock")


def lock_of_cache(workspace: Workspace) -> Path:
    """Return the lock of the cache; it is inside, because the parent may not be writable."""
    return workspace.cache / ".lock"


def lock_of(folder: Path) -> Path:
    """Return the lock of the environment in a folder and its reports, beside that of build/."""
    return folder.with_name(f".{folder.name}.used")


def hold_shared(lock: Path, limit: float = LIMIT) -> None:
    """Hold a lock until this process ends, shared with other users; wait while `clean` has it.

    A person without write permission holds none. Raises InUseError, with the process that has it,
    after `limit` seconds.
    """
    if lock in _held:
        return
    # A person without write permission makes nothing there, but can run programs.
    with suppress(OSError):
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = acquire(
            lock, fcntl.LOCK_SH, waiting_for="what this uses is being removed", limit=limit
        )
        if descriptor is None:
            raise InUseError(
                f"{lock} is locked",
                expected=f"a removal that ends within {limit:g} s",
                found=holders(lock),
                fix="wait until that process ends, or stop it; then run this again",
            )
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
        descriptor = acquire(lock, fcntl.LOCK_EX, limit=0)
        if descriptor is None:
            raise InUseError(
                f"{what} is in use: nothing was removed",
                found=holders(lock),
                fix="wait until it ends, or stop it; then run this again",
            )
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            os.close(descriptor)
