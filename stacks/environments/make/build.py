"""Building an environment: lock, packages, prefix."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from stacks.core.console import display_path, plural, step
from stacks.core.workspace import Workspace
from stacks.environments import in_use
from stacks.environments.folders import folder_of, report_path
from stacks.environments.make import packages, prefix, ready, settings
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants import stack
from stacks.variants.variant import Variant

# Lines that a repair prints: an environment has thousands of files.
MOST_LINES = 12


def read_lock(workspace: Workspace, variant: Variant) -> Lock:
    """Return a variant's lock, and print two lines; StaleError if it is not for this variant."""
    print(f"{variant.name} on {variant.framework.name}", file=sys.stderr, flush=True)
    with step("lock", "") as summaries:
        locked = lock.current(workspace, variant)
        summaries.append(_contents(len(locked.packages), len(locked.requirements)))
    return locked


def make_environment(
    workspace: Workspace,
    variant: Variant,
    target: Path | None = None,
    *,
    repair: bool = False,
    from_sources: bool = False,
    clean: bool = False,
) -> Path:
    """Return the folder of a variant's environment, made from its lock if it is not ready.

    target: the folder instead of the one below build/. repair: compare every file of an environment
    that is there, and put back what differs. from_sources: take no package from a place that has
    it ready. clean: make it again without what the user has added. Raises a StacksError if the
    lock is stale, a source is not available, bytes are not the pinned ones, or the disk is full or
    read-only.
    """
    locked = read_lock(workspace, variant)
    is_own = target is None
    if target is None:
        if variant.file:
            stack.make_build_folder(variant.file)
        in_use.protect_build(workspace, variant)
        target = folder_of(workspace, variant)
    settings.check_place(target)
    own = packages.user_packages(workspace, variant)
    key = ready.key_of(workspace, variant, locked, target)
    repair = repair and target.is_dir()
    as_it_is = not (repair or clean or from_sources)
    if as_it_is and ready.is_made(target, key, prefix.digests(own)):
        print(f"  {'ready':<9}{display_path(target)}", file=sys.stderr, flush=True)
        return target
    if note := _copying_note(workspace.cache, target):
        print(note, file=sys.stderr, flush=True)
    parts = packages.parts_of(workspace, variant, locked, from_sources=from_sources)
    if repair:
        with step("repair", "") as summaries:
            faults = prefix.repair(workspace, variant, locked, parts, target, own)
            summaries.append(f"{display_path(target)}: {plural(len(faults), 'file')}")
        _print(lines_of_repair(faults, prefix.folder_of_replaced(target)))
        return target
    with step("install", display_path(target)):
        notes = prefix.make(workspace, variant, locked, parts, target, own, clean=clean)
        if is_own:
            # It is of the environment that was there before.
            report_path(workspace, variant).unlink(missing_ok=True)
    _print(notes)
    return target


def _print(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"           {note}", file=sys.stderr)


def lines_of_repair(faults: Mapping[str, str], aside: Path) -> list[str]:
    """Return what a repair changed, a line for each file; of many files the first ones.

    aside: the folder of the files that were replaced, if there were any.
    """
    lines = []
    for name, fault in sorted(faults.items()):
        done = "moved away" if fault == "extra" else "put back"
        lines.append(f"{done}: {name} ({fault})")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"and {len(lines) - MOST_LINES + 1:,} more"]
    if set(faults.values()) - {"missing"}:
        lines.append(f"the replaced files are in {display_path(aside)}")
    return lines


def _copying_note(cache: Path, target: Path) -> str | None:
    """Return a note if files of the cache cannot be hard links at `target`, else None."""
    # Of a folder that is missing, the parent's file system.
    existing = [next(p for p in (path, *path.parents) if p.is_dir()) for path in (cache, target)]
    if len({folder.stat().st_dev for folder in existing}) == 1:
        return None
    return (
        f"note: the cache {display_path(cache)} is on another file system than "
        f"{display_path(target)}: files are copied, not shared (set THEANO_STACKS_CACHE to a "
        "folder on the same file system to share them)"
    )


def _contents(packages: int, requirements: int) -> str:
    return f"{packages} packages" + (f", {requirements} more by pip" if requirements else "")
