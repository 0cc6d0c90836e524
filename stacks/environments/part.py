"""A conda package of an environment, and the paths of its files."""

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
    """A package of another channel: its index.json and its address in the lock."""

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
        """The archive's name without suffix, as in the name of its conda-meta record."""
        return self.file_name.removesuffix(".conda").removesuffix(".tar.bz2")

    def files(self, python: str) -> dict[str, str]:
        """Return the SHA-256 of each file by its path in the prefix, "" if it is unknown."""
        digests = {}
        for entry in self._entries():
            name = entry.relative_path.as_posix()
            if self.offer.index.get("noarch") == "python":
                name = _noarch_path(name, python)
            digest = (entry.sha256 or b"").hex()
            # The target of a link may be in another package, which has its SHA-256.
            is_link = entry.path_type.softlink and digest in ("", NOTHING)
            if not (is_link and isinstance(self.offer, OtherChannelOffer)):
                digests[name] = "" if is_link or entry.prefix_placeholder else digest
        return digests

    def rewritten(self) -> dict[str, str]:
        """Return the SHA-256 in the archive of the files that the prefix's path is written into.

        Only other channels' packages have such files.
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


def _noarch_path(name: str, python: str) -> str:
    for folder, target in (
        ("site-packages/", f"lib/python{python}/site-packages/"),
        ("python-scripts/", "bin/"),
    ):
        if name.startswith(folder):
            return target + name.removeprefix(folder)
    return name
