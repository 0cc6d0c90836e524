"""The packages that locks name, each once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from stacks.channel.build import build_missing, build_packages
from stacks.channel.index import IndexEntry
from stacks.channel.offers import Channel
from stacks.channel.package import Digests
from stacks.channel.settings import with_settings
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.locks.digests import other_bytes
from stacks.variants.variant import Variant


def entries_of(
    workspace: Workspace, channel: Channel, variants: Iterable[Variant]
) -> tuple[IndexEntry, ...]:
    """Return the packages of the project's channel in the variants' locks, by file name.

    Raises StaleError if a lock is stale, UsageError if a variant is not locked.
    """
    entries = {}
    for variant in variants:
        if variant.channel:
            raise UsageError(
                f"{variant.id}: its packages are of another channel",
                expected="a variant with packages of this project's channel alone",
            )
        locked = lock.check(workspace, variant, channel)
        offers = with_settings(channel, [variant]).offers
        for package in locked.packages:
            name = package.file_name
            digests = Digests(package.sha256, package.md5, locked.sizes[name])
            entries[name] = IndexEntry(offers[name], digests)
    return tuple(entries[name] for name in sorted(entries))


def packages_of(
    workspace: Workspace, channel: Channel, entries: Sequence[IndexEntry], *, quiet: bool = False
) -> dict[str, Path]:
    """Return the files of locked packages by their paths in a channel.

    What the cache lacks is fetched or built; unless quiet, a line says how many. Raises
    IntegrityError if a package has other bytes than the locked ones.
    """
    locked = {entry.offer.file_name: entry.digests for entry in entries}
    offers = [entry.offer for entry in entries]
    make = build_missing if quiet else build_packages
    built = make(workspace, channel, offers, locked=locked)
    for entry in entries:
        package = built[entry.offer.file_name]
        if package.sha256 != entry.digests.sha256:
            raise other_bytes(entry.path, entry.digests.sha256, package.sha256)
    return {entry.path: built[entry.offer.file_name].path for entry in entries}
