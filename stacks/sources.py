"""Pins: every deb and every file from the package index, by name, version, size and SHA-256.

A pin names no host. Where the bytes come from is the user's own configuration (stacks/fetch.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True, kw_only=True)
class DebPin:
    """A binary package of Debian's archive; `path` is below the mirror's root."""

    suite: str
    name: str
    version: str
    path: str
    size: int
    sha256: str

    @property
    def filename(self) -> str:
        """The last part of the path in the archive's pool."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, order=True, kw_only=True)
class IndexPin:
    """A wheel or source archive of the Python package index."""

    name: str
    version: str
    filename: str
    size: int
    sha256: str


Pin = DebPin | IndexPin
