"""What may be republished, and with which sources. This is no legal advice."""

from __future__ import annotations

from collections.abc import Container

from stacks.channel.recipe import Recipe
from stacks.sources.pins import DebPin, Pins


def may_republish(recipe: Recipe, include: Container[str] = ()) -> bool:
    """Return whether a package of a recipe is part of a published channel.

    include: names of packages that are republished only on request.
    """
    about = recipe.about
    return about.republish in ("yes", "with sources") or (
        about.republish == "on request" and recipe.package.name in include
    )


def sources_of(recipe: Recipe, pins: Pins) -> tuple[DebPin, ...]:
    """Return the pins of the source packages that a published package must come with."""
    return ()
