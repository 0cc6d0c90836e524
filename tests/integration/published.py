"""A published channel of the small framework, served over HTTP, and damages to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from integration.test_serve import serving_folder
from integration.tiny import Tiny
from stacks.channel.offers import URL, read_channel
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.publish.channel import publish_to_folder


@dataclass(frozen=True)
class Published:
    """A folder that `./invoke publish-channel` wrote, and the address where it is served."""

    folder: Path
    address: str

    def package(self, name: str) -> Path:
        """Return the one package of a name."""
        [path] = self.folder.glob(f"*/{name}-*.conda")
        return path

    def explicit(self, locked: Lock) -> str:
        """Return a lock as conda's list of addresses and MD5 sums."""
        lines = [
            f"{package.url.replace(URL, self.address)}#{package.md5}" for package in locked.packages
        ]
        return "\n".join(("@EXPLICIT", *lines, ""))


@contextmanager
def published(tiny: Tiny, folder: Path) -> Iterator[Published]:
    """Publish the packages of the small framework's locks in a folder and serve them."""
    publish_to_folder(tiny.workspace, folder)
    with serving_folder(folder) as address:
        yield Published(folder, address)


def locked_by(tiny: Tiny, name: str) -> Lock:
    """Return the lock of a small variant."""
    return lock.read(tiny.workspace, tiny.variant(name), read_channel(tiny.workspace).pins)
