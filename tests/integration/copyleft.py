"""The sources of the copyleft parts of the small framework's packages, as mirrors have them."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from integration.tiny import Tiny
from stacks.channel.offers import read_channel
from stacks.core.workspace import Workspace
from stacks.environments.make.pip_install import link_or_copy
from stacks.locks.publication import publication
from stacks.sources import alive
from stacks.sources.debian_mirrors import EndedReleases, current_mirrors
from stacks.sources.pins import DebPin, cached_path, cached_sha256
from stacks.sources.places import mirror_place
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import environment_web
from stacks.variants.load import all_variants


def sources(tiny: Tiny) -> tuple[DebPin, ...]:
    """Return the pins of the source files that are published with the small framework."""
    channel = read_channel(tiny.workspace)
    return publication(tiny.workspace, channel, all_variants(tiny.workspace)).sources


def not_at_mirrors(workspace: Workspace, pins: Sequence[DebPin]) -> frozenset[DebPin]:
    """Return the files that neither the cache nor any archive has; each archive is asked.

    An archive of ended releases may be out of reach. A mirror that does not answer counts as
    having them: the fetch then fails and says why.
    """
    wanted = [pin for pin in pins if cached_sha256(workspace, pin) != pin.sha256]
    if not wanted:
        return frozenset()
    stop, wheel = threading.Event(), address_wheel(workspace)
    mirrors = [mirror.url for mirror in current_mirrors(wheel)]
    roots = [*mirrors, *EndedReleases(wheel).roots()]
    web = environment_web(stop)
    answers = alive.survey([mirror_place(web, root) for root in roots], wanted, stop)
    if any(answer.failure for answer in answers[: len(mirrors)]):
        return frozenset()
    held = {pin for answer in answers for pin in (*answer.held, *answer.problems)}
    return frozenset(pin for pin in wanted if pin not in held)


def share(workspace: Workspace, tiny: Tiny, lacking: Collection[DebPin]) -> None:
    """Link the sources, but for those that are `lacking`, into the small framework's cache."""
    for pin in sources(tiny):
        if pin not in lacking:
            target = cached_path(tiny.workspace, pin)
            target.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(cached_path(workspace, pin), target)
