"""What a published channel has: packages, index, sources of copyleft parts, digests of all.

It follows from recipes, pins and locks. Nothing is fetched or built for it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.build import obtain_packages
from stacks.channel.offers import Channel, IndexEntry, index_files, listed_digests, with_settings
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.sources.conda_archive import read_archive
from stacks.sources.pins import DebPin
from stacks.variants.variant import Variant

# The list of digests, in a published channel and beside the locks.
DIGESTS = "index.sha256"
SOURCES = "sources"


@dataclass(frozen=True)
class Publication:
    """A channel to publish.

    entries: its packages. left_out: packages of the locks that may not be republished. sources: the
    files of the source packages of copyleft parts. files: the index files by path. digests: the
    SHA-256 of each file, as sha256sum prints it.
    """

    entries: tuple[IndexEntry, ...]
    left_out: tuple[IndexEntry, ...]
    sources: tuple[DebPin, ...]
    files: dict[str, bytes]
    digests: str


def publication(
    workspace: Workspace,
    channel: Channel,
    variants: Iterable[Variant],
    include: Container[str] = (),
) -> Publication:
    """Return the channel to publish for the locks of the variants.

    include: names of packages that are published only on request. Raises StaleError for a stale
    lock.
    """
    locked = entries_of(workspace, channel, variants)
    entries = tuple(e for e in locked if e.recipe.may_republish(include))
    pins = {pin for each in entries for pin in each.recipe.published_sources(channel.pins)}
    sources = tuple(sorted(pins, key=lambda pin: pin.filename))
    files = index_files(entries)
    others = {source_path(pin): pin.sha256 for pin in sources}
    left_out = tuple(entry for entry in locked if entry not in entries)
    return Publication(entries, left_out, sources, files, listed_digests(entries, files, others))


def source_path(pin: DebPin) -> str:
    """Return the path of a source file in a published channel."""
    return f"{SOURCES}/{pin.filename}"


def entries_of(
    workspace: Workspace, channel: Channel, variants: Iterable[Variant]
) -> tuple[IndexEntry, ...]:
    """Return the packages of the project's channel in the variants' locks, by file name.

    A package that the recipes do not give, of a lock that another version made, is obtained: only
    its archive has what an index needs. Raises StaleError if a lock is stale, UsageError if a
    variant is not locked.
    """
    entries = {}
    for variant in variants:
        if variant.channel:
            raise UsageError(
                f"{variant.id}: its packages are of another channel",
                expected="a variant with packages of this project's channel alone",
            )
        locked = lock.current(workspace, variant)
        offers = with_settings(channel, [variant]).offers
        for package in locked.packages:
            offer = offers.get(package.file_name)
            if offer:
                index = offer.index
            else:
                made = obtain_packages(
                    workspace, channel, [package], made_by=locked.made_by, quiet=True
                )
                index = dict(read_archive(made[package.file_name].path).index)
            entries[package.file_name] = IndexEntry(package, index, offer)
    return tuple(entries[name] for name in sorted(entries))


def packages_of(
    workspace: Workspace, channel: Channel, entries: Sequence[IndexEntry], *, quiet: bool = False
) -> dict[str, Path]:
    """Return the files of locked packages by their paths in a channel.

    What the cache lacks is fetched or built; unless quiet, a line says how many. Raises
    IntegrityError if a package is built with other bytes than the locked ones.
    """
    offers = {entry.offer.file_name: entry.offer for entry in entries if entry.offer}
    known = Channel({**channel.offers, **offers}, channel.pins)
    packages = [entry.package for entry in entries]
    built = obtain_packages(workspace, known, packages, quiet=quiet)
    return {entry.path: built[entry.package.file_name].path for entry in entries}
