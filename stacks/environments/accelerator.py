"""The framework's accelerator in an environment of another channel, whose lock cannot have it."""

from __future__ import annotations

from stacks.channel import package
from stacks.channel.assemble import inputs_hash
from stacks.channel.offers import Offer
from stacks.channel.recipe import RECIPES, Recipe
from stacks.core.yamlfile import load
from stacks.environments.part import Part
from stacks.sources.pins import Pins
from stacks.variants.variant import Variant


def offers(variant: Variant) -> tuple[Offer, ...]:
    """Return the accelerator packages that the variant's lock lacks; none on our own channel."""
    if not variant.channel:
        return ()
    recipes = [load(RECIPES / name / "recipe.yaml", Recipe) for name in variant.accelerator]
    # They have no sources but their own, so no pin decides their bytes.
    return tuple(Offer(recipe, inputs_hash(recipe, ())) for recipe in recipes)


def parts(variant: Variant, pins: Pins) -> list[Part]:
    """Return those packages, built where the cache lacks them."""
    return [Part(offer, package.build(offer.recipe, pins)) for offer in offers(variant)]
