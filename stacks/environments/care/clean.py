"""Removal of environments, reports and the cache, and of what killed processes leave there.

What a process uses is locked: a temporary folder by a lock on itself, the cache and build/ by the
locks of stacks/environments/folders.py.
"""

import fcntl
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.disk import TMP, explain_disk_errors, remove_leftover, tmp_parent
from stacks.core.locking import acquire
from stacks.core.workspace import BUILT, PACKAGES, UNPACKED, Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of, folder_of_stack, report_path
from stacks.variants import stack
from stacks.variants.variant import Variant

# What other modules make in the cache.
CACHED = (
    *("bases", BUILT, "layers", folders.MODULES, PACKAGES, "sources", UNPACKED, "uv"),
    *(folders.VERIFIED, "wheels"),
)
# Where leftovers are, as patterns below the cache and build/: not inside packages and environments.
IN_CACHE = (
    ".*",
    *(f"{name}/.*" for name in ("bases", BUILT, "layers", PACKAGES, UNPACKED, "wheels")),
    *("sources/*/*/*/.*", "sources/*/*/*/*.part", "sources/unpinned/*"),
)
IN_BUILD = (
    *(".*", "reproduce-*", "cluster/.*", "images/*/.*", "prefixes/*/.*"),
    *("reports/*/.*", "reports/*/workloads/*/.*"),
)
# The second: of the suite, when all its processes are killed at once. See verify/core/program.py.
IN_TMP = (f"{TMP}*", "theano-verify-*")
# What replace_atomically makes, `reproduce`, and those two.
TEMPORARY = re.compile(
    r"\..+\.[a-z0-9_]{8}\.part|reproduce-[a-z0-9_]{8}"
    rf"|{TMP}[a-z0-9_]{{8}}|theano-verify-[a-zA-Z0-9_]{{6,8}}"
)
LOCK = re.compile(r"\.(.+)\.(?:lock|used)")
# A download resumes within a week after its last byte.
RESUMED = 7 * 24 * 3600.0


def clean(workspace: Workspace, variants: Sequence[Variant] | None, *, cache: bool) -> None:
    """Remove environments and reports (all of build/ for None), and if requested the cache.

    Other files in the cache's folder stay: a person may have chosen a shared one. With the cache go
    the leftovers of killed processes, also those in TMPDIR. Raises folders.InUseError, and removes
    nothing, if a process uses any of it.
    """
    if variants is None:
        paths = sorted(workspace.build.glob("*"))
    else:
        paths = [path for variant in variants for path in _paths_of(workspace, variant)]
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
        if cache:
            locks.enter_context(
                folders.hold_exclusive(
                    folders.lock_of_cache(workspace), f"the cache {workspace.cache}"
                )
            )
        existing = [path for path in paths if path.exists()]
        for path in existing:
            print(f"removing {path}")
            with explain_disk_errors(path):
                _remove(path)
        count = len(existing)
        if cache:
            count += _collect_tmp() + _remove_leftovers(workspace.cache, IN_CACHE)
        if not count:
            print("nothing to remove")


def _paths_of(workspace: Workspace, variant: Variant) -> list[Path]:
    """Return what is a variant's: its environment, what lies beside it, its reports."""
    folder = folder_of(workspace, variant)
    return [
        folder,
        folders.replaced_folder(folder),
        folders.kernel_folder(folder),
        report_path(workspace, variant),
        folders.workload_reports(workspace, variant),
        *([stack.flavours_folder(variant.file)] if variant.file else []),
    ]


def _remove(path: Path) -> None:
    """Remove a file or a folder; a link to a folder, as to a larger disk, stays and is emptied."""
    if not path.is_dir():
        path.unlink()
    elif path.is_symlink():
        for child in path.iterdir():
            # The links in it lead to what is not the environment's.
            child.unlink() if child.is_symlink() else _remove(child)
    else:
        # Others see all of it, or nothing: an environment that is half there may say it is ready.
        aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            path.rename(aside)
        except OSError:
            # A mount point.
            aside = path
        try:
            shutil.rmtree(aside)
        except BaseException:
            # An interrupt, or a file that refuses: the rest goes all the same.
            shutil.rmtree(aside, ignore_errors=True)
            raise


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
    _collect_tmp()
    if "cache" in areas:
        _collect(folders.lock_of_cache(workspace), workspace.cache, IN_CACHE)
    if "build" in areas:
        _collect(folders.lock_of_build(workspace), workspace.build, IN_BUILD)


def _collect(lock: Path, area: Path, patterns: Iterable[str]) -> None:
    with suppress(OSError):
        descriptor = acquire(lock, fcntl.LOCK_EX, limit=0)
        if descriptor is not None:
            try:
                _remove_leftovers(area, patterns)
            finally:
                os.close(descriptor)


def _collect_tmp() -> int:
    """Remove the person's temporary folders in TMPDIR that no process uses; return how many."""
    folder = tmp_parent()
    with suppress(OSError):
        return _remove_leftovers(folder, IN_TMP) if folder else 0
    return 0


def _remove_leftovers(area: Path, patterns: Iterable[str]) -> int:
    """Remove leftovers among the paths below a folder that match a pattern; return how many.

    What lies behind a link stays. A line on standard error counts them.
    """
    count = 0
    for path in [path for pattern in patterns for path in area.glob(pattern)]:
        # Another process may remove it meanwhile.
        with suppress(OSError):
            is_linked = path.parent.resolve() != area.resolve() / path.parent.relative_to(area)
            count += not is_linked and _remove_leftover(path)
    if count:
        note = f"removed what interrupted or killed programs left in {area}: {count}"
        print(note, "entry" if count == 1 else "entries", file=sys.stderr, flush=True)
    return count


def _remove_leftover(path: Path) -> bool:
    """Remove a path that nobody needs or uses; return whether it was one that is worth a message.

    That is: a temporary folder of this person, a download that is too old to be resumed, or, which
    is not worth a message, the lock file of what is missing.
    """
    status, lock = path.lstat(), LOCK.fullmatch(path.name)
    if stat.S_ISDIR(status.st_mode):
        is_own = TEMPORARY.fullmatch(path.name) and status.st_uid == os.geteuid()
        return bool(is_own) and remove_leftover(path)
    if stat.S_ISLNK(status.st_mode):
        return False
    if lock:
        if not os.path.lexists(path.with_name(lock[1])):
            descriptor = acquire(path, fcntl.LOCK_EX, limit=0)
            if descriptor is not None:
                path.unlink(missing_ok=True)
                os.close(descriptor)
        return False
    is_partial = path.suffix == ".part" or path.parent.name == "unpinned"
    if is_partial and status.st_mtime <= time.time() - RESUMED:
        path.unlink()
        return True
    return False
