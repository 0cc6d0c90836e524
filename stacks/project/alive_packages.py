"""Published packages as places of the sources that they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from stacks.channel.offers import read_channel
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.sources.alive import Holdings
from stacks.sources.pins import CondaPin, Pin, Pins
from stacks.variants.variant import all_variants

BUILT = "built from sources"


def locked_packages(workspace: Workspace, pins: Pins) -> tuple[CondaPin, ...]:
    """Return every package of the committed locks once; `urls` has its path in a channel."""
    packages = {}
    for variant in all_variants(workspace):
        locked = lock.read(workspace, variant, pins)
        for package in locked.packages:
            subdir = urlsplit(package.url).path.split("/")[-2]
            packages[package.file_name] = CondaPin(
                name=package.name,
                version=package.version,
                filename=package.file_name,
                size=locked.sizes[package.file_name],
                sha256=package.sha256,
                urls=(f"{subdir}/{package.file_name}",),
            )
    return tuple(packages[name] for name in sorted(packages))


def sources_of(
    workspace: Workspace, packages: Iterable[CondaPin], pins: Pins
) -> dict[CondaPin, tuple[Pin, ...]]:
    """Return the pins that each package is made of, with those of the tools that make it.

    A package that the recipes no longer give has none.
    """
    offers = read_channel(workspace).offers
    sources: dict[CondaPin, tuple[Pin, ...]] = {}
    for package in packages:
        offer = offers.get(package.filename)
        recipes = (offer.recipe, *offer.tools) if offer else ()
        sources[package] = tuple(pin for recipe in recipes for pin in recipe.pins(pins))
    return sources


def installed_by_pip(workspace: Workspace, pins: Pins) -> frozenset[Pin]:
    """Return the pins that environments need as they are, beside any package made of them."""
    return frozenset(
        pin for variant in all_variants(workspace) for pin in lock.requirements_of(variant, pins)
    )


def with_packages(
    holdings: Sequence[Holdings], sources: Mapping[CondaPin, Sequence[Pin]], direct: frozenset[Pin]
) -> list[Holdings]:
    """Return the holdings with what the packages of a place stand for, and what can be built.

    A place that has every package made of a source needs that source no more, unless it is one of
    `direct`. A package whose sources are all somewhere has a place more: it can be built.
    """
    made: dict[Pin, set[Pin]] = {}
    for package, pins in sources.items():
        for pin in pins:
            made.setdefault(pin, set()).add(package)
    somewhere = {pin for each in holdings for pin in each.held}
    buildable = frozenset(
        package for package, pins in sources.items() if pins and somewhere.issuperset(pins)
    )
    return [
        *(
            replace(
                each,
                held=each.held
                | {
                    pin
                    for pin, packages in made.items()
                    if pin not in direct and each.held.issuperset(packages)
                },
            )
            for each in holdings
        ),
        Holdings(BUILT, buildable),
    ]
