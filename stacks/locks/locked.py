"""The packages that locks name, each once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from stacks.channel.build import obtain_packages
from stacks.channel.index import IndexEntry
from stacks.channel.offers import Channel, with_settings
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.sources.conda_archive import read_archive
from stacks.variants.variant import Variant


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
