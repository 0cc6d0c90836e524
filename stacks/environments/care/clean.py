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
    the leftovers of killed processes, which are counted, also those in TMPDIR. Raises
    folders.InUseError, and removes nothing, if a process uses any of it.
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
        existing = [path for path in paths if path.exists()]
        if not existing and not (cache and any(_in_cache(workspace, resumed=0))):
            print("nothing to remove")
            return
        if cache:
            locks.enter_context(
                folders.hold_exclusive(
                    folders.lock_of_cache(workspace), f"the cache {workspace.cache}"
                )
            )
            _collect_tmp()
            _remove_all(_in_cache(workspace, resumed=0), workspace.cache)
        for path in existing:
            print(f"removing {path}")
            with explain_disk_errors(path):
                _remove(path)
        if cache:
            # The locks of what was removed.
            _remove_all(_in_cache(workspace), workspace.cache)


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
        _collect(folders.lock_of_cache(workspace), _in_cache(workspace), workspace.cache)
    if "build" in areas:
        leftovers = _leftovers(workspace.build, IN_BUILD)
        _collect(folders.lock_of_build(workspace), leftovers, workspace.build)


def _collect(lock: Path, leftovers: Iterable[Path], area: Path) -> None:
    with suppress(OSError):
        descriptor = acquire(lock, fcntl.LOCK_EX, limit=0)
        if descriptor is not None:
            try:
                _remove_all(leftovers, area)
            finally:
                os.close(descriptor)


def _collect_tmp() -> None:
    """Remove the person's temporary folders in TMPDIR that no process uses."""
    # Without a folder for temporary files there is nothing to remove.
    with suppress(OSError):
        if folder := tmp_parent():
            _remove_all(_leftovers(folder, IN_TMP), folder)


def _in_cache(workspace: Workspace, resumed: float = RESUMED) -> Iterator[Path]:
    """Yield the leftovers in the cache; partial downloads if older than `resumed`, in seconds."""
    return _leftovers(workspace.cache, IN_CACHE, time.time() - resumed)


def _leftovers(area: Path, patterns: Iterable[str], oldest: float = 0.0) -> Iterator[Path]:
    """Yield what nobody needs, but may use, of the paths below a folder that match a pattern.

    That is: temporary folders of this person, lock files of what is missing, and downloads whose
    last byte came before the time `oldest`. What lies behind a link stays.
    """
    for path in (path for pattern in patterns for path in area.glob(pattern)):
        # Another process may remove it meanwhile.
        with suppress(OSError):
            status, lock, parent = path.lstat(), LOCK.fullmatch(path.name), path.parent
            if parent.resolve() != area.resolve() / parent.relative_to(area):
                continue
            if stat.S_ISDIR(status.st_mode):
                is_left = TEMPORARY.fullmatch(path.name) and status.st_uid == os.geteuid()
            elif lock:
                is_left = not os.path.lexists(path.with_name(lock[1]))
            else:
                is_partial = path.suffix == ".part" or parent.name == "unpinned"
                is_left = is_partial and status.st_mtime <= oldest
            if is_left and not stat.S_ISLNK(status.st_mode):
                yield path


def _remove_all(leftovers: Iterable[Path], area: Path) -> None:
    """Remove leftovers that no process uses; a line on standard error counts them.

    area: the folder that they are in, for the message.
    """
    count = 0
    for path in list(leftovers):
        with suppress(OSError):
            if path.is_dir():
                count += remove_leftover(path)
            elif LOCK.fullmatch(path.name):
                # Not worth a message.
                descriptor = acquire(path, fcntl.LOCK_EX, limit=0)
                if descriptor is not None:
                    path.unlink(missing_ok=True)
                    os.close(descriptor)
            else:
                path.unlink()
                count += 1
    if count:
        note = f"removed what interrupted or killed programs left in {area}: {count}"
        print(note, "entry" if count == 1 else "entries", file=sys.stderr, flush=True)
