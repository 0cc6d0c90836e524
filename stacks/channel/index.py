"""The index of a channel, written from what the locks say: no package is read, no clock asked.

The same entries give the same bytes. The form is that of repodata.json, which conda, mamba, pixi
and rattler read; they ask for its .zst first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import zstandard

from stacks.channel.offers import Offer
from stacks.channel.package import Digests
from stacks.core.digest_list import text_of

SUBDIRS = ("linux-64", "noarch")
# Of 51 packages' index: 19 takes 0.1 s.
COMPRESSION_LEVEL = 19


@dataclass(frozen=True)
class IndexEntry:
    """A package of the index: its offer, and the digests of its bytes."""

    offer: Offer
    digests: Digests

    @property
    def path(self) -> str:
        """The package's path in the channel."""
        return f"{self.offer.recipe.subdir}/{self.offer.file_name}"

    @property
    def record(self) -> dict[str, Any]:
        """The package's metadata as in repodata.json."""
        known = {key: value for key, value in self.offer.index.items() if value is not None}
        return {**known, **asdict(self.digests)}


def index_files(entries: Iterable[IndexEntry]) -> dict[str, bytes]:
    """Return the index files of a channel with these packages, by their paths in it."""
    packages: dict[str, dict[str, Any]] = {subdir: {} for subdir in SUBDIRS}
    for entry in entries:
        packages[entry.offer.recipe.subdir][entry.offer.file_name] = entry.record
    files = {}
    for subdir, records in packages.items():
        content = {
            "info": {"subdir": subdir},
            "packages": {},
            "packages.conda": records,
            "repodata_version": 1,
        }
        data = (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()
        files[f"{subdir}/repodata.json"] = data
        files[f"{subdir}/repodata.json.zst"] = zstandard.ZstdCompressor(
            level=COMPRESSION_LEVEL, threads=0
        ).compress(data)
    return files


def listed_digests(
    entries: Iterable[IndexEntry], files: Mapping[str, bytes], others: Mapping[str, str]
) -> str:
    """Return lines as sha256sum prints them, by path.

    files: the bytes of the index files. others: the SHA-256 of further files.
    """
    digests = {**others, **{entry.path: entry.digests.sha256 for entry in entries}}
    digests |= {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    return text_of(digests)
