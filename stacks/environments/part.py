"""A conda package as a part of an environment: where it comes from, and where its files go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import rattler

from stacks.channel.offers import Offer
from stacks.channel.package import Built

NOTHING = hashlib.sha256().hexdigest()


@dataclass(frozen=True)
class OtherChannelOffer:
    """A package that another channel gave: what its index.json says, and where a lock has it."""

    index: dict[str, Any]
    url: str


@dataclass(frozen=True)
class Part:
    """A conda package of an environment: the offer and its archive."""

    offer: Offer | OtherChannelOffer
    built: Built

    @property
    def name(self) -> str:
        """The package's name."""
        return str(self.offer.index["name"])

    @property
    def file_name(self) -> str:
        """The archive's name in its channel."""
        return self.offer.url.rsplit("/", 1)[-1]

    @property
    def stem(self) -> str:
        """The same without what tells the archive's kind: so conda calls its record."""
        return self.file_name.removesuffix(".conda").removesuffix(".tar.bz2")

    def files(self, python: str) -> dict[str, str]:
        """Return the SHA-256 of each file by its path in the prefix, "" where it has none."""
        found = {}
        for entry in self._entries():
            name = entry.relative_path.as_posix()
            if self.offer.index.get("noarch") == "python":
                name = _noarch_place(name, python)
            digest = (entry.sha256 or b"").hex()
            # What a link leads to may be in another package, which says what that must be.
            away = entry.path_type.softlink and digest in ("", NOTHING)
            if not (away and isinstance(self.offer, OtherChannelOffer)):
                found[name] = "" if away or entry.prefix_placeholder else digest
        return found

    def rewritten(self) -> dict[str, str]:
        """Return the SHA-256 in the archive of those files that get the prefix's path in them.

        Only other channels' packages have any.
        """
        if not isinstance(self.offer, OtherChannelOffer):
            return {}
        return {
            entry.relative_path.as_posix(): (entry.sha256 or b"").hex()
            for entry in self._entries()
            if entry.prefix_placeholder
        }

    def _entries(self) -> Iterator[rattler.PathsEntry]:
        for entry in rattler.PathsJson.from_package_archive(self.built.path).paths:
            if not entry.path_type.directory:
                yield entry


def _noarch_place(name: str, python: str) -> str:
    for folder, place in (
        ("site-packages/", f"lib/python{python}/site-packages/"),
        ("python-scripts/", "bin/"),
    ):
        if name.startswith(folder):
            return place + name.removeprefix(folder)
    return name
