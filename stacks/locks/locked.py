"""The packages that locks name, each once."""

from __future__ import annotations

from collections.abc import Iterable

from stacks.channel.index import Entry
from stacks.channel.offers import Channel
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.variants.variant import Variant


def entries_of(
    workspace: Workspace, channel: Channel, variants: Iterable[Variant]
) -> tuple[Entry, ...]:
    """Return the packages of the project's channel in the variants' locks, by file name.

    Raises StaleError if a lock is stale, UsageError if a variant is not locked.
    """
    entries = {}
    for variant in variants:
        locked = lock.check(workspace, variant, channel)
        for package in locked.packages:
            name = package.file_name
            entries[name] = Entry(
                channel.offers[name], package.sha256, package.md5, locked.sizes[name]
            )
    return tuple(entries[name] for name in sorted(entries))
