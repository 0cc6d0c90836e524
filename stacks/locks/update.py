"""Writing and checking the locks of this project's channel."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from stacks.channel.build import build_packages
from stacks.channel.offers import Channel, read_channel
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock, publication
from stacks.locks.digests import check_unchanged, digests_of
from stacks.locks.publication import Publication
from stacks.variants.load import all_variants
from stacks.variants.variant import Variant


def relock(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Solve the variants, build the packages that are missing, and write the locks.

    Raises IntegrityError, and writes nothing, if a package has other bytes than a present lock
    has under its name.
    """
    channel = read_channel(workspace)
    solutions = [lock.solve(variant, channel) for variant in variants]
    offers = {offer.file_name: offer for offers in solutions for offer in offers}
    built = build_packages(workspace, channel, offers.values())
    digests = {name: digests_of(package.path) for name, package in built.items()}
    check_unchanged(workspace, digests)
    for variant in variants:
        lock.make(workspace, variant, channel, digests)
        print(f"  {'locked':<9}{variant.id}", file=sys.stderr)
    if any(variant.file for variant in variants):
        return
    try:
        publication.write_digests(workspace, _publication(workspace, channel))
    except (StaleError, UsageError):
        names = f"{publication.DIGESTS} is not written: other locks are stale"
        print(f"note: {names}; `./invoke lock` makes all", file=sys.stderr)


def check_locks(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Raise StaleError with every variant whose committed lock is stale."""
    channel = read_channel(workspace)
    stale = []
    for variant in variants:
        try:
            lock.check(workspace, variant, channel)
            print(f"  {'current':<9}{variant.id}", file=sys.stderr)
        except StaleError as error:
            stale.append(error)
    if stale or any(variant.file for variant in variants):
        pass
    elif not publication.are_current(workspace, _publication(workspace, channel)):
        stale.append(StaleError(f"{publication.DIGESTS} is stale", fix="./invoke lock"))
    if stale:
        raise StaleError("\n".join(error.what for error in stale), fix=stale[0].fix)


def _publication(workspace: Workspace, channel: Channel) -> Publication:
    return publication.publication(workspace, channel, all_variants(workspace))
