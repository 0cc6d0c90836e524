"""Published packages as places of the sources that they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stacks.channel.offers import read_channel, with_settings
from stacks.channel.retrieval import pin_of
from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.locks import lock, texts
from stacks.sources.alive import Holdings
from stacks.sources.channels import published_channels
from stacks.sources.pins import CondaPin, Pin, Pins
from stacks.sources.places import Place
from stacks.sources.web import StoppedError, Web
from stacks.variants.load import all_variants

BUILT = "built from sources"


def locked_packages(workspace: Workspace, pins: Pins) -> tuple[CondaPin, ...]:
    """Return every package of the committed locks once; `urls` has its path in a channel."""
    packages: dict[str, CondaPin] = {}
    for variant in all_variants(workspace):
        locked = lock.read(workspace, variant)
        packages |= {each.file_name: pin_of(each) for each in locked.packages}
    return tuple(packages[name] for name in sorted(packages))


@dataclass(frozen=True)
class Published:
    """The vendored and published channels that a build asks, and the packages of the locks.

    sources: what each package is made of. direct: the pins that environments need as they are.
    """

    places: tuple[Place, ...] = ()
    packages: tuple[CondaPin, ...] = ()
    sources: Mapping[CondaPin, Sequence[Pin]] = field(default_factory=dict)
    direct: frozenset[Pin] = frozenset()


def published(workspace: Workspace, pins: Pins, web: Web) -> Published:
    """Return the channels and their packages; nothing if no channel is known."""
    places = [
        place
        for channel in published_channels(workspace)
        if (place := channel.place(web)) and (channel.configured or _is_published(place))
    ]
    if not places:
        return Published()
    packages = locked_packages(workspace, pins)
    return Published(
        tuple(places),
        packages,
        sources_of(workspace, packages, pins),
        installed_by_pip(workspace, pins),
    )


def _is_published(place: Place) -> bool:
    """Return whether a channel that nobody configured exists: most repositories have none."""
    try:
        place.check()
    except StoppedError:
        raise
    except FetchError:
        return False
    return True


def sources_of(
    workspace: Workspace, packages: Iterable[CondaPin], pins: Pins
) -> dict[CondaPin, tuple[Pin, ...]]:
    """Return the pins that each package is made of, with those of the tools that make it.

    A package that the recipes no longer give is left out: it cannot be built.
    """
    offers = with_settings(read_channel(workspace), all_variants(workspace)).offers
    return {
        package: tuple(pin for each in (offer, *offer.tools) for pin in each.recipe.pins(pins))
        for package in packages
        if (offer := offers.get(package.filename))
    }


def installed_by_pip(workspace: Workspace, pins: Pins) -> frozenset[Pin]:
    """Return the pins that environments need as they are, beside any package made of them."""
    return frozenset(
        pin for variant in all_variants(workspace) for pin in texts.requirements_of(variant, pins)
    )


def with_packages(holdings: Sequence[Holdings], channels: Published) -> list[Holdings]:
    """Return the holdings with what the packages of a place stand for, and what can be built.

    A place that has every package made of a source needs that source no more, unless it is one of
    `direct`. A package whose sources are all somewhere has a place more: it can be built.
    """
    if not channels.packages:
        return list(holdings)
    made: dict[Pin, set[Pin]] = {}
    for package, pins in channels.sources.items():
        for pin in pins:
            made.setdefault(pin, set()).add(package)
    somewhere = {pin for each in holdings for pin in each.held}
    buildable = frozenset(
        package for package, pins in channels.sources.items() if somewhere.issuperset(pins)
    )
    needless = {pin: packages for pin, packages in made.items() if pin not in channels.direct}
    return [*(_with_sources(each, needless) for each in holdings), Holdings(BUILT, buildable)]


def _with_sources(holdings: Holdings, made: Mapping[Pin, set[Pin]]) -> Holdings:
    covered = {pin for pin, packages in made.items() if holdings.held.issuperset(packages)}
    return replace(holdings, held=holdings.held | covered)
