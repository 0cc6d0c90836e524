"""Packages of another channel, fetched as locked."""

from __future__ import annotations

from stacks.channel.archive import read_archive
from stacks.channel.package import Built
from stacks.core.workspace import Workspace
from stacks.environments.part import OtherChannelOffer, Part
from stacks.locks.lock import Lock
from stacks.sources.condarc import ChannelAddress, channel_address
from stacks.sources.fetch import fetch
from stacks.sources.pins import CondaPin


def pins_of(lock: Lock) -> list[CondaPin]:
    """Return the pins of a lock's packages.

    Each has two addresses: where the channel's name leads today, then the one in the lock.
    """
    address = channel_address(lock.channel)
    return [
        CondaPin(
            name=package.name,
            version=package.version,
            filename=package.file_name,
            size=lock.sizes[package.file_name],
            sha256=package.sha256,
            urls=tuple(dict.fromkeys((_in_channel(address, package.url), package.url))),
        )
        for package in lock.packages
    ]


def _in_channel(address: ChannelAddress, url: str) -> str:
    return "/".join((address.url, *url.rsplit("/", 2)[1:]))


def parts_of(workspace: Workspace, lock: Lock) -> list[Part]:
    """Return the packages of a lock; fetch those missing from the cache.

    Raises IntegrityError for an archive that is damaged or not safe to install.
    """
    pins = pins_of(lock)
    paths = fetch(workspace, pins)
    return [
        Part(
            OtherChannelOffer(read_archive(paths[pin]), package.url), Built(paths[pin], pin.sha256)
        )
        for package, pin in zip(lock.packages, pins, strict=True)
    ]
