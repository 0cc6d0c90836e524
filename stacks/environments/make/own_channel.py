"""What only our channel has, in an environment of another channel, whose lock cannot have it.

That is the framework's accelerator, and the settings.
"""

from __future__ import annotations

from collections.abc import Sequence

from stacks.channel import package
from stacks.channel.assemble import recipe_hash
from stacks.channel.offers import Offer, offer_of
from stacks.channel.recipe import read_recipe
from stacks.core.workspace import Workspace
from stacks.environments.make import settings
from stacks.environments.make.part import Part
from stacks.sources.pins import Pins
from stacks.variants.variant import Variant


def offers(workspace: Workspace, variant: Variant, compiler: str = "g++") -> tuple[Offer, ...]:
    """Return the packages that the variant's lock lacks; none on our own channel.

    compiler: the name of the environment's C++ compiler, which follows from the lock.
    """
    if not variant.channel:
        return ()
    recipes = [read_recipe(workspace.recipes, name) for name in variant.accelerator]
    # They have no sources but their own, so no pin decides their bytes.
    accelerator = [Offer(recipe, recipe_hash(recipe, ())) for recipe in recipes]
    return (*accelerator, offer_of(variant, compiler))


def parts(workspace: Workspace, variant: Variant, pins: Pins, locked: Sequence[Part]) -> list[Part]:
    """Return those packages for an environment of locked ones, built where the cache lacks them."""
    files = (name for part in locked for name in part.files(variant.framework.python))
    compiler = settings.compiler_among(files)
    return [
        Part(offer.url, package.build(workspace, offer.recipe, pins))
        for offer in offers(workspace, variant, compiler)
    ]
