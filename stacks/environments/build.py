"""Building an environment: lock, packages, prefix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from stacks.channel.build import build_packages
from stacks.channel.offers import Channel, read_channel
from stacks.channel.package import Digests
from stacks.channel.settings import with_settings
from stacks.core.console import display_path, plural, step
from stacks.core.workspace import Workspace
from stacks.environments import host, in_use, own_channel, prefix, settings, user_packages
from stacks.environments import repair as repairing
from stacks.environments.folders import folder_of
from stacks.environments.part import Part
from stacks.environments.reports import report_path
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants import stack
from stacks.variants.variant import Variant

# Lines that a repair prints: an environment has thousands of files.
MOST_LINES = 12


def read_lock(workspace: Workspace, variant: Variant) -> tuple[Channel, Lock]:
    """Return the channel and a variant's lock, and print two lines; StaleError if it is stale."""
    print(f"{variant.name} on {variant.framework.name}", file=sys.stderr, flush=True)
    with step("lock", "") as summaries:
        channel = read_channel(workspace)
        locked = lock.check(workspace, variant, channel)
        summaries.append(_contents(len(locked.packages), len(locked.requirements)))
    return channel, locked


def parts_of(
    workspace: Workspace,
    variant: Variant,
    channel: Channel,
    locked: Lock,
    *,
    from_sources: bool = False,
) -> list[Part]:
    """Return a lock's packages; those that the cache lacks are fetched, or built from sources.

    from_sources: ask no place for packages that are ready, and build those of the cache again that
    came from one. What only our channel has comes after another channel's packages, whose lock does
    not have it. Files for pip are fetched too. Raises UsageError if this machine cannot run the
    packages, FetchError or IntegrityError.
    """
    host.check(spec for package in locked.packages for spec in package.depends)
    if variant.channel:
        # Loaded here: it imports an HTTP library and conda's own code.
        from stacks.environments import other_channel as fetched_packages

        with step("packages", f"{len(locked.packages)} from {locked.channel}"):
            parts = fetched_packages.parts_of(workspace, locked)
            return parts + own_channel.parts(workspace, variant, channel.pins, parts)
    channel = with_settings(channel, [variant])
    offers = [channel.offers[package.file_name] for package in locked.packages]
    digests = None if from_sources else digests_of(locked)
    built = build_packages(workspace, channel, offers, locked.requirements, digests)
    return [Part(offer, built[offer.file_name]) for offer in offers]


def digests_of(locked: Lock) -> dict[str, Digests]:
    """Return the bytes of a lock's packages, by file name."""
    return {
        package.file_name: Digests(package.sha256, package.md5, locked.sizes[package.file_name])
        for package in locked.packages
    }


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
    channel, locked = read_lock(workspace, variant)
    is_own = target is None
    if target is None:
        if variant.file:
            stack.make_build_folder(variant.file)
        in_use.protect_build(workspace, variant)
        target = folder_of(workspace, variant)
    settings.check_place(target)
    own = user_packages.packages(workspace, variant)
    repair = repair and target.is_dir()
    as_it_is = not (repair or clean or from_sources)
    if as_it_is and prefix.is_ready(workspace, variant, locked, target, own):
        print(f"  {'ready':<9}{display_path(target)}", file=sys.stderr, flush=True)
        return target
    if note := copying_note(workspace.cache, target):
        print(note, file=sys.stderr, flush=True)
    parts = parts_of(workspace, variant, channel, locked, from_sources=from_sources)
    if repair:
        with step("repair", "") as summaries:
            faults = repairing.repair(workspace, variant, locked, parts, target, own)
            summaries.append(f"{display_path(target)}: {plural(len(faults), 'file')}")
        notes = lines_of_repair(faults)
        aside = repairing.folder_of_replaced(target)
        if faults and aside.is_dir():
            notes.append(f"the replaced files are in {display_path(aside)}")
        _print(notes)
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


def lines_of_repair(faults: Mapping[str, str]) -> list[str]:
    """Return what a repair changed, a line for each file; of many files the first ones."""
    lines = []
    for name, fault in sorted(faults.items()):
        done = "moved away" if fault == "extra" else "put back"
        lines.append(f"{done}: {name} ({fault})")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"and {len(lines) - MOST_LINES + 1:,} more"]
    return lines


def device_of(path: Path) -> int:
    """Return the device number of a path's file system; of its nearest parent if it is missing."""
    for each in (path, *path.parents):
        with suppress(OSError):
            return each.stat().st_dev
    return 0


def copying_note(
    cache: Path, target: Path, device: Callable[[Path], int] = device_of
) -> str | None:
    """Return a note if files of the cache cannot be hard links at `target`, else None."""
    if device(cache) == device(target):
        return None
    return (
        f"note: the cache {display_path(cache)} is on another file system than "
        f"{display_path(target)}: files are copied, not shared (set THEANO_STACKS_CACHE to a "
        "folder on the same file system to share them)"
    )


def _contents(packages: int, requirements: int) -> str:
    return f"{packages} packages" + (f", {requirements} more by pip" if requirements else "")
