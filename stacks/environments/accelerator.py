"""The framework's accelerator in an environment of another channel, whose lock cannot have it."""

from __future__ import annotations

from stacks.channel import package
from stacks.channel.assemble import inputs_hash
from stacks.channel.offers import Offer
from stacks.channel.recipe import read_recipe
from stacks.core.workspace import Workspace
from stacks.environments.part import Part
from stacks.sources.pins import Pins
from stacks.variants.variant import Variant


def offers(workspace: Workspace, variant: Variant) -> tuple[Offer, ...]:
    """Return the accelerator packages that the variant's lock lacks; none on our own channel."""
    if not variant.channel:
        return ()
    recipes = [read_recipe(workspace.recipes, name) for name in variant.accelerator]
    # They have no sources but their own, so no pin decides their bytes.
    return tuple(Offer(recipe, inputs_hash(recipe, ())) for recipe in recipes)


def parts(workspace: Workspace, variant: Variant, pins: Pins) -> list[Part]:
    """Return those packages, built where the cache lacks them."""
    return [
        Part(offer, package.build(workspace, offer.recipe, pins))
        for offer in offers(workspace, variant)
    ]
