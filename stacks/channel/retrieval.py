"""Packages from published channels that have them ready, each checked against the lock."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from stacks.channel import package
from stacks.channel.locked_package import LockedPackage
from stacks.channel.package import Built
from stacks.core.disk import hold_lock
from stacks.core.workspace import Workspace
from stacks.sources.pins import CondaPin, Pin
from stacks.sources.places import Place
from stacks.sources.retrieve import Store
from stacks.sources.retrieve import retrieve as retrieve_files


def retrieve(
    workspace: Workspace, places: Sequence[Place], packages: Sequence[LockedPackage]
) -> dict[str, tuple[str, Built]]:
    """Take packages into the cache, each from the first channel that has it.

    Returns the channel's name and the package, with the locked bytes, by file name; what was in no
    channel is missing. A channel that fails or has other bytes costs one warning. Raises DiskError.
    """
    built: dict[Pin, Built] = {}

    def has(pin: Pin) -> bool:
        if found := package.cached(workspace, pin.filename, pin.sha256):
            built[pin] = found
        return found is not None

    def add(pin: Pin, part: Path) -> None:
        built[pin] = package.add(workspace, part, pin.filename, pin.sha256)

    def lock(pin: Pin) -> AbstractContextManager[None]:
        folder = workspace.cache / package.PACKAGES / pin.sha256
        return hold_lock(folder, f"the package {pin.filename}")

    store = Store(lock, has, add)
    pins = [pin_of(each) for each in packages]
    found, _ = retrieve_files(workspace, pins, places, store)
    return {pin.filename: (place.name, built[pin]) for pin, place in found.items()}


def pin_of(locked: LockedPackage) -> CondaPin:
    """Return a package of a lock as a pin, whose URL is its path in a channel."""
    return CondaPin(
        name=locked.name,
        version=locked.version,
        filename=locked.file_name,
        size=locked.size,
        sha256=locked.sha256,
        urls=(f"{locked.subdir}/{locked.file_name}",),
    )
