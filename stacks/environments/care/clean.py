"""Removal of environments, reports and the cache, and of what killed processes leave there.

What a process uses is locked: a temporary folder by a lock on itself, the cache and build/ by the
locks of stacks/environments/folders.py.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.disk import SCRATCH, explain_disk_errors, remove_leftover, scratch_parent
from stacks.core.locking import acquire
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of, folder_of_stack, report_path
from stacks.variants import stack
from stacks.variants.variant import Variant

# What other modules make in the cache.
CACHED = (
    *("bases", "built", "layers", folders.MODULES, "packages", "sources", "unpacked", "uv"),
    *(folders.VERIFIED, "wheels"),
)
# The folders that have leftovers, and in how many levels of folders below them.
CACHE = {
    **dict.fromkeys(("", "bases", "built", "layers", "packages", "unpacked", "wheels"), 0),
    "sources": 3,
}
BUILD = {"": 0, "cluster": 1, "images": 2, "prefixes": 1, "reports": 3}
# What replace_atomically makes, and `reproduce`.
TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}\.part|reproduce-[a-z0-9_]{8}")
# The second: of the suite, when all its processes are killed at once. See verify/core/program.py.
IN_SCRATCH = re.compile(f"{SCRATCH}[a-z0-9_]{{8}}|theano-verify-[a-zA-Z0-9_]{{6,8}}")
LOCK = re.compile(r"\.(.+)\.(?:lock|used)")
# A download resumes within a week after its last byte.
RESUMED = 7 * 24 * 3600.0


def clean(workspace: Workspace, variants: Sequence[Variant] | None, *, cache: bool) -> None:
    """Remove environments and reports (all of build/ for None), and if requested the cache.

    Other files in the cache's folder stay: a person may have chosen a shared one. With the cache go
    the leftovers of killed processes, which are counted, also those in TMPDIR. Raises
    folders.InUseError, and removes nothing, if a process uses any of it.
    """
    if variants is None:
        paths = sorted(workspace.build.glob("*"))
    else:
        paths = [
            p
            for v in variants
            for p in (
                folder_of(workspace, v),
                folders.replaced_folder(folder_of(workspace, v)),
                folders.kernel_folder(folder_of(workspace, v)),
                report_path(workspace, v),
                folders.workload_reports(workspace, v),
                *([stack.flavours_folder(v.file)] if v.file else []),
            )
        ]
    if cache:
        paths += [workspace.cache / name for name in CACHED]
    with ExitStack() as locks:
        if variants is None:
            locks.enter_context(
                folders.hold_exclusive(folders.lock_of_build(workspace), str(workspace.build))
            )
        else:
            folders.hold_shared(folders.lock_of_build(workspace))
            for name, folder in _environments(workspace, variants):
                # A first build has its lock before its folder.
                if folder.exists() or folders.lock_of(folder).exists():
                    locks.enter_context(folders.hold_exclusive(folders.lock_of(folder), name))
        existing = [path for path in paths if path.exists()]
        if not existing and not (cache and any(in_cache(workspace, resumed=0))):
            print("nothing to remove")
            return
        if cache:
            locks.enter_context(
                folders.hold_exclusive(
                    folders.lock_of_cache(workspace), f"the cache {workspace.cache}"
                )
            )
            _collect_scratch()
            _remove_all(in_cache(workspace, resumed=0), workspace.cache)
        for path in existing:
            print(f"removing {path}")
            with explain_disk_errors(path):
                _remove(path)
        if cache:
            # The locks of what was removed.
            _remove_all(in_cache(workspace), workspace.cache)


def _remove(path: Path) -> None:
    """Remove a file or a folder; a link to a folder, as to a larger disk, stays and is emptied."""
    if not path.is_dir():
        path.unlink()
    elif path.is_symlink():
        for child in path.iterdir():
            # The links in it lead to what is not the environment's.
            child.unlink() if child.is_symlink() else _remove(child)
    else:
        shutil.rmtree(path)


def _environments(workspace: Workspace, variants: Sequence[Variant]) -> Iterator[tuple[str, Path]]:
    """Yield the name and folder of each environment that a process may use.

    With a stack are its copies on other flavours, of which some may no longer exist.
    """
    for variant in variants:
        yield variant.id, folder_of(workspace, variant)
        if variant.file:
            for file in sorted(stack.flavours_folder(variant.file).glob(f"*/{stack.NAME}")):
                yield display_path(file), folder_of_stack(file)


def collect(workspace: Workspace, areas: Collection[str]) -> None:
    """Remove leftovers of those of the areas `cache` and `build` that no process uses.

    A line on standard error says how many. Where the person may not write, nothing happens.
    """
    _collect_scratch()
    if "cache" in areas:
        _collect(folders.lock_of_cache(workspace), in_cache(workspace), workspace.cache)
    if "build" in areas:
        _collect(folders.lock_of_build(workspace), _in_build(workspace), workspace.build)


def _collect(lock: Path, leftovers: Iterable[Path], area: Path) -> None:
    with suppress(OSError):
        descriptor = acquire(lock, fcntl.LOCK_EX, limit=0)
        if descriptor is not None:
            try:
                _remove_all(leftovers, area)
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


def _in_build(workspace: Workspace) -> Iterator[Path]:
    """Yield the leftovers in build/."""
    for name, levels in BUILD.items():
        for entry in _entries(workspace.build / name, levels):
            if _is_temporary(entry) or _is_stale_lock(entry):
                yield Path(entry.path)


def _collect_scratch() -> None:
    """Remove the person's temporary folders in TMPDIR that no process uses."""
    # Without a folder for temporary files there is nothing to remove.
    with suppress(OSError):
        if folder := scratch_parent():
            _remove_all(_in_scratch(folder), folder)


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


def _remove_all(leftovers: Iterable[Path], area: Path) -> None:
    """Remove leftovers that no process uses; a line on standard error counts them.

    area: the folder that they are in, for the message.
    """
    count, size = 0, 0
    for path in list(leftovers):
        with suppress(OSError):
            length = _size(path)
            if _remove_leftover(path):
                count, size = count + 1, size + length
    if count:
        entries = "entry" if count == 1 else "entries"
        note = f"removed what interrupted or killed programs left in {area}: {count} {entries}"
        print(f"{note}, {size / 1e6:.1f} MB", file=sys.stderr, flush=True)


def _remove_leftover(path: Path) -> bool:
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
