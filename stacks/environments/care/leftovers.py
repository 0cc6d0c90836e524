"""Removal of what killed processes leave in the cache, in build/ and in TMPDIR.

What a process uses is locked: a temporary folder by a lock on itself, the cache and build/ by the
locks of stacks/environments/in_use.py.
"""

from __future__ import annotations

import fcntl
import os
import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from stacks.core.disk import SCRATCH, remove_leftover, scratch_parent
from stacks.core.locking import acquire
from stacks.core.workspace import Workspace
from stacks.environments import in_use

# The folders that have leftovers, and in how many levels of folders below them.
CACHE = {
    **dict.fromkeys(("", "bases", "built", "layers", "packages", "unpacked", "wheels"), 0),
    "sources": 3,
}
BUILD = {"": 0, "cluster": 1, "images": 2, "prefixes": 1, "reports": 3}
# What replace_atomically makes, and `reproduce`.
TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}\.part|reproduce-[a-z0-9_]{8}")
# The second: of the suite, when all its processes are killed at once. See verify/core/scratch.py.
IN_SCRATCH = re.compile(f"{SCRATCH}[a-z0-9_]{{8}}|theano-verify-[a-zA-Z0-9_]{{6,8}}")
LOCK = re.compile(r"\.(.+)\.(?:lock|used)")
# A download resumes within a week after its last byte.
RESUMED = 7 * 24 * 3600.0


def collect(workspace: Workspace, areas: Collection[str]) -> None:
    """Remove leftovers of those of the areas `cache` and `build` that no process uses.

    A line on standard error says how many. Where the person may not write, nothing happens.
    """
    collect_scratch()
    if "cache" in areas:
        _collect(in_use.lock_of_cache(workspace), in_cache(workspace), workspace.cache)
    if "build" in areas:
        _collect(in_use.lock_of_build(workspace), in_build(workspace), workspace.build)


def _collect(lock: Path, leftovers: Iterable[Path], area: Path) -> None:
    with suppress(OSError):
        descriptor = acquire(lock, fcntl.LOCK_EX, limit=0)
        if descriptor is not None:
            try:
                remove(leftovers, area)
            finally:
                os.close(descriptor)


def in_cache(workspace: Workspace, resumed: float = RESUMED) -> Iterator[Path]:
    """Yield the leftovers in the cache; partial downloads if older than `resumed`, in seconds."""
    oldest = time.time() - resumed
    for name, levels in CACHE.items():
        for entry in _entries(workspace.cache / name, levels):
            if name == "unpacked":
                is_left = _is_of_rattler(entry)
            else:
                is_left = _is_temporary(entry) or _is_stale_lock(entry)
            if is_left or (name == "sources" and _is_partial(entry, oldest)):
                yield Path(entry.path)


def in_build(workspace: Workspace) -> Iterator[Path]:
    """Yield the leftovers in build/."""
    for name, levels in BUILD.items():
        for entry in _entries(workspace.build / name, levels):
            if _is_temporary(entry) or _is_stale_lock(entry):
                yield Path(entry.path)


def collect_scratch() -> None:
    """Remove the person's temporary folders in TMPDIR that no process uses."""
    # Without a folder for temporary files there is nothing to remove.
    with suppress(OSError):
        if folder := scratch_parent():
            remove(_in_scratch(folder), folder)


def _in_scratch(folder: Path) -> Iterator[Path]:
    for entry in _entries(folder, 0):
        if IN_SCRATCH.fullmatch(entry.name) and _is_folder(entry):
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    yield Path(entry.path)


def _entries(folder: Path | str, levels: int) -> Iterator[os.DirEntry[str]]:
    """Yield what is in a folder, and below it; folders with a dot and links are not entered."""
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            yield entry
            if levels and not entry.name.startswith(".") and _is_folder(entry):
                yield from _entries(entry.path, levels - 1)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _is_temporary(entry: os.DirEntry[str]) -> bool:
    return bool(TEMPORARY.fullmatch(entry.name)) and _is_folder(entry)


def _is_stale_lock(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is the lock file of something that is missing."""
    match = LOCK.fullmatch(entry.name)
    if not match or not entry.is_file(follow_symlinks=False):
        return False
    return not os.path.lexists(entry.path.removesuffix(entry.name) + match[1])


def _is_of_rattler(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder that a package was unpacked in, or a stale lock."""
    if entry.name.startswith("."):
        return _is_folder(entry)
    return entry.name.endswith(".lock") and not os.path.lexists(entry.path.removesuffix(".lock"))


def _is_partial(entry: os.DirEntry[str], oldest: float) -> bool:
    """Return whether an entry is a download whose last byte came before the time `oldest`."""
    unpinned = entry.path.endswith(f"/unpinned/{entry.name}")
    if not (entry.name.endswith(".part") or unpinned) or not entry.is_file(follow_symlinks=False):
        return False
    try:
        return entry.stat(follow_symlinks=False).st_mtime <= oldest
    except FileNotFoundError:
        return False


def remove(leftovers: Iterable[Path], area: Path) -> None:
    """Remove leftovers that no process uses; a line on standard error counts them.

    area: the folder that they are in, for the message.
    """
    count, size = 0, 0
    for path in list(leftovers):
        with suppress(OSError):
            length = _size(path)
            if _remove(path):
                count, size = count + 1, size + length
    if count:
        entries = "entry" if count == 1 else "entries"
        note = f"removed what interrupted or killed programs left in {area}: {count} {entries}"
        print(f"{note}, {size / 1e6:.1f} MB", file=sys.stderr, flush=True)


def _remove(path: Path) -> bool:
    """Remove a leftover; return whether that is worth a message: not for locks."""
    if path.is_dir() and not path.is_symlink():
        return remove_leftover(path)
    if path.suffix in (".lock", ".used"):
        descriptor = acquire(path, fcntl.LOCK_EX, limit=0)
        if descriptor is not None:
            path.unlink(missing_ok=True)
            os.close(descriptor)
        return False
    path.unlink()
    return True


def _size(path: Path) -> int:
    """Return the bytes that the removal of a file, or of a folder's files, frees."""
    files = [path] if not path.is_dir() else [file for file in path.rglob("*") if file.is_file()]
    statuses = [file.lstat() for file in files]
    return sum(status.st_size for status in statuses if status.st_nlink == 1)
