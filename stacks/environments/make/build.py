"""Building an environment: lock, packages, prefix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from stacks.channel.build import MissingPackagesError, build_packages, check_bytes, obtain_packages
from stacks.channel.offers import Channel, read_channel, with_settings
from stacks.channel.package import Built
from stacks.core.console import display_path, plural, step
from stacks.core.workspace import Workspace
from stacks.environments import in_use
from stacks.environments.folders import folder_of, report_path
from stacks.environments.make import host, own_channel, prefix, settings, user_packages
from stacks.environments.make import repair as repairing
from stacks.environments.make.part import Part
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.sources.fetch import fetch
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


def parts_of(
    workspace: Workspace, variant: Variant, locked: Lock, *, from_sources: bool = False
) -> list[Part]:
    """Return a lock's packages: from the cache, else from a place, else built from sources.

    from_sources: build all that this code has not built on this machine, and compare the bytes.
    What only our channel has comes after another channel's packages, whose lock does not have it.
    Files for pip are fetched too. Raises UsageError if this machine cannot run the packages, or if
    some are nowhere; FetchError or IntegrityError.
    """
    host.check(spec for package in locked.packages for spec in package.depends)
    channel = with_settings(read_channel(workspace), [variant])
    if variant.channel:
        # Loaded here: it imports an HTTP library and conda's own code.
        from stacks.environments.make.other_channel import pins_of

        with step("packages", f"{len(locked.packages)} from {locked.channel}"):
            pins = pins_of(locked)
            paths = fetch(workspace, pins)
            parts = [
                Part(package.url, Built(paths[pin], pin.sha256))
                for package, pin in zip(locked.packages, pins, strict=True)
            ]
            return parts + own_channel.parts(workspace, variant, channel.pins, parts)
    packages, files = locked.packages, locked.requirements
    if from_sources:
        built = _built_from_sources(workspace, channel, locked)
    else:
        built = obtain_packages(workspace, channel, packages, files, locked.made_by)
    _note_newer(variant, channel, locked)
    return [Part(package.url, built[package.file_name]) for package in packages]


def _built_from_sources(workspace: Workspace, channel: Channel, locked: Lock) -> dict[str, Built]:
    packages = locked.packages
    if unknown := [each for each in packages if each.file_name not in channel.offers]:
        raise MissingPackagesError(unknown, locked.made_by)
    offers = [channel.offers[package.file_name] for package in packages]
    built = build_packages(workspace, channel, offers, locked.requirements)
    check_bytes(packages, built)
    return built


def _note_newer(variant: Variant, channel: Channel, locked: Lock) -> None:
    """Print the names of locked packages that the recipes give in another version or build."""
    names = {offer.recipe.package.name for offer in channel.offers.values()}
    other = [
        package.name
        for package in locked.packages
        if package.name in names and package.file_name not in channel.offers
    ]
    if other:
        command = f"{lock.command_of(variant)}{' --upgrade' if variant.file else ''}"
        print(
            f"note: this version has other builds of {', '.join(other)}; `{command}` takes them",
            file=sys.stderr,
        )


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
    own = user_packages.packages(workspace, variant)
    repair = repair and target.is_dir()
    as_it_is = not (repair or clean or from_sources)
    if as_it_is and prefix.is_ready(workspace, variant, locked, target, own):
        print(f"  {'ready':<9}{display_path(target)}", file=sys.stderr, flush=True)
        return target
    if note := copying_note(workspace.cache, target):
        print(note, file=sys.stderr, flush=True)
    parts = parts_of(workspace, variant, locked, from_sources=from_sources)
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
