"""The addresses of another channel's packages."""

from __future__ import annotations

from stacks.locks.lock import Lock
from stacks.sources.condarc import ChannelAddress, channel_address
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
            size=package.size,
            sha256=package.sha256,
            urls=tuple(dict.fromkeys((_in_channel(address, package.url), package.url))),
        )
        for package in lock.packages
    ]


def _in_channel(address: ChannelAddress, url: str) -> str:
    return "/".join((address.url, *url.rsplit("/", 2)[1:]))
