"""The project's own conda channel: what it offers, what specs need of it, and building that.

Solving needs metadata only, so only the packages of a solution are ever built.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stacks.channel import assemble
from stacks.channel.recipe import Recipe, read_recipes
from stacks.channel.stages import UserTarball
from stacks.core.errors import UsageError
from stacks.core.reproducible import EPOCH
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pins, read_pins

# Where locks say that the packages are: `./invoke serve` answers there.
PORT = 8420
URL = f"http://localhost:{PORT}/theano-stacks"


@dataclass(frozen=True)
class Offer:
    """A package that the channel can give: a recipe, and the hash of all that it is built from.

    `tools` are the recipes of the packages that it is built with.
    """

    recipe: Recipe
    inputs: str
    tools: tuple[Recipe, ...] = ()

    @property
    def file_name(self) -> str:
        """The package's file in the channel."""
        return assemble.file_name(self.recipe, self.inputs)

    @property
    def build_string(self) -> str:
        """The package's conda build string."""
        return assemble.build_string(self.recipe, self.inputs)

    @property
    def index(self) -> dict[str, Any]:
        """What conda's index.json and repodata.json say of the package, without its hashes."""
        return {
            "name": self.recipe.package.name,
            "version": self.recipe.package.version,
            "build": self.build_string,
            "build_number": self.recipe.build.number,
            "depends": list(self.recipe.requirements.run),
            "constrains": list(self.recipe.requirements.run_constraints),
            "subdir": self.recipe.subdir,
            "noarch": self.recipe.build.noarch,
            "license": self.recipe.about.license,
            "timestamp": EPOCH * 1000,
        }

    @property
    def url(self) -> str:
        """Where a lock says that the package is."""
        return f"{URL}/{self.recipe.subdir}/{self.file_name}"


@dataclass(frozen=True)
class Channel:
    """Every package that the recipes describe, by file name, and the pins of their sources."""

    offers: Mapping[str, Offer]
    pins: Pins


def read_channel(
    workspace: Workspace,
) -> Channel:
    """Return what the recipes and pins offer; UsageError where one of them is wrong."""
    pins = read_pins(workspace.sources_lock)
    # What is made of a file of the user's own is nothing that a lock could promise.
    known = {
        name: recipe
        for name, recipe in read_recipes(workspace.recipes).items()
        if not isinstance(recipe.extra, UserTarball)
    }
    offers = [_offer(recipe, known, pins) for recipe in known.values()]
    return Channel({offer.file_name: offer for offer in offers}, pins)


def _offer(recipe: Recipe, known: Mapping[str, Recipe], pins: Pins) -> Offer:
    tools = tuple(_tool(name, recipe, known) for name in recipe.requirements.build)
    hashes = [assemble.inputs_hash(tool, tool.pins(pins)) for tool in tools]
    return Offer(recipe, assemble.inputs_hash(recipe, recipe.pins(pins), hashes), tools)


def _tool(name: str, recipe: Recipe, known: Mapping[str, Recipe]) -> Recipe:
    """Return the recipe of a package that another one is built with."""
    found = [other for other in known.values() if other.package.name == name]
    if len(found) != 1 or found[0].requirements.build:
        raise UsageError(
            f"the recipe {recipe.package.name} cannot be built with {name}",
            expected="the name of exactly one package of the channel, itself built with none",
            found=f"{len(found)} packages of that name",
            fix="correct `requirements.build` in the recipe",
        )
    return found[0]


def repodata(offers: Iterable[Offer], subdir: str) -> str:
    """Return a repodata.json over the offers of one subdir, without hashes of packages."""
    packages = {offer.file_name: offer.index for offer in offers if offer.recipe.subdir == subdir}
    return json.dumps({"info": {"subdir": subdir}, "packages": {}, "packages.conda": packages})
