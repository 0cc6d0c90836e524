"""The package with a variant's settings, which follows from envs/ as others do from recipes/.

It is in the lock of each variant, so an environment has the fast path whoever installs it. A
stack.yaml has its flavour's package, or, if it changes the settings, one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from stacks.channel.assemble import recipe_hash
from stacks.channel.offers import Channel, Offer
from stacks.channel.recipe import About, Build, Recipe, RecipePackage, Requirements
from stacks.channel.settings_files import PLACEHOLDER, files_of
from stacks.channel.stages import Texts
from stacks.variants.variant import Variant

LICENCE = Path(__file__).with_name("LICENSE-settings")


def with_settings(channel: Channel, variants: Iterable[Variant]) -> Channel:
    """Return a channel with the settings packages of variants; another channel has none."""
    offers = [offer_of(variant) for variant in variants if not variant.channel]
    return replace(
        channel, offers={**channel.offers, **{offer.file_name: offer for offer in offers}}
    )


def offer_of(variant: Variant, compiler: str = "g++") -> Offer:
    """Return the offer of a variant's settings for an environment with this C++ compiler."""
    recipe = _recipe(variant, compiler)
    return Offer(recipe, recipe_hash(recipe, ()))


def _recipe(variant: Variant, compiler: str) -> Recipe:
    framework, name = variant.framework, variant.settings_package
    licence = f"share/licenses/{name}/LICENSE"
    return Recipe(
        package=RecipePackage(name=name, version=framework.version),
        build=Build(noarch="python", variant=variant.settings_label),
        # In a package, the parts of a spec stand apart.
        requirements=Requirements(
            run=tuple(s.replace("=*=", " * ") for s in variant.linked_specs())
        ),
        about=About(
            license="BSD-3-Clause",
            summary=f"Settings of {framework.module}: BLAS, compiler, threads",
            republish="yes",
        ),
        extra=Texts(
            stage="texts",
            files={**files_of(variant, compiler), licence: LICENCE.read_text("utf-8")},
            placeholder=PLACEHOLDER,
        ),
    )
