"""What the licences of packages allow: which may be published, and with which sources.

Facts about licences are in the recipes (`about`); docs/reference/licences.md explains them. This is
not legal advice.
"""

from __future__ import annotations

from collections.abc import Container

from stacks.channel.recipe import Recipe
from stacks.sources.pins import DebPin, Pins


def may_republish(recipe: Recipe, include: Container[str] = ()) -> bool:
    """Return whether the package may be published again.

    include: names of packages that the user publishes on their own responsibility. It counts for
    those that are published `on request`, and for no other.
    """
    if recipe.about.republish == "on request":
        return recipe.package.name in include
    return recipe.about.republish != "no"


def sources_of(recipe: Recipe, pins: Pins) -> tuple[DebPin, ...]:
    """Return the pins of the source files that are published with the package, sorted.

    Raises UsageError where a source package is not in sources.lock.
    """
    names = ((each.suite, name) for each in recipe.about.sources for name in each.sources)
    return tuple(sorted(pin for suite, name in names for pin in pins.source(suite, name)))
