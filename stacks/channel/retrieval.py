"""Packages from published channels that have them ready, each checked against the lock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stacks.channel import package
from stacks.channel.locked_package import LockedPackage
from stacks.channel.package import Built
from stacks.core.workspace import Workspace
from stacks.sources.pins import CondaPin, Pin
from stacks.sources.places import Place
from stacks.sources.retrieve import retrieve as retrieve_files


def retrieve(
    workspace: Workspace, places: Sequence[Place], packages: Sequence[LockedPackage]
) -> dict[str, tuple[str, Built]]:
    """Take packages into the cache, each from the first channel that has it.

    Returns the channel's name and the package, with the locked bytes, by file name; what was in no
    channel is missing. A channel that fails or has other bytes costs one warning. Raises DiskError.
    """

    def path_of(pin: Pin) -> Path:
        return workspace.cache / package.PACKAGES / pin.sha256 / pin.filename

    pins = [pin_of(each) for each in packages]
    found, _ = retrieve_files(workspace, pins, places, path_of)
    return {
        pin.filename: (place.name, Built(path_of(pin), pin.sha256)) for pin, place in found.items()
    }


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
