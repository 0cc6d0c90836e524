from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import assemble
from stacks.channel import offers as offers_module
from stacks.channel.offers import Channel
from stacks.channel.recipe import read_recipes
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pins, read_pins, write_pins
from unit.helpers.checkout import CHECKOUT


@pytest.fixture(scope="module")
def channel() -> Channel:
    return offers_module.read_channel(CHECKOUT)


def test_the_index_of_a_subdir(channel: Channel) -> None:
    index = json.loads(offers_module.repodata(channel.offers.values(), "noarch"))
    [(name, six)] = [(n, p) for n, p in index["packages.conda"].items() if p["name"] == "six"]
    assert six == {
        "name": "six",
        "version": "1.16.0",
        "build": channel.offers[name].build_string,
        "build_number": 0,
        "depends": ["python"],
        "constrains": [],
        "subdir": "noarch",
        "noarch": "python",
        "license": "MIT",
        "timestamp": 1704067200000,
    }
    assert {p["subdir"] for p in index["packages.conda"].values()} == {"noarch"}


def test_offers_by_their_files_names(channel: Channel) -> None:
    for name, offer in channel.offers.items():
        assert offer.file_name == name
        assert offer.url.endswith(f"/{offer.recipe.subdir}/{name}")


def test_a_channel_without_recipes_is_empty(tmp_path: Path) -> None:
    write_pins(tmp_path / "recipes/sources.lock", Pins())
    assert offers_module.read_channel(Workspace(tmp_path, tmp_path / "cache")).offers == {}


def test_an_offer_follows_from_the_packages_that_build_it(channel: Channel) -> None:
    recipes, pins = read_recipes(CHECKOUT.recipes), read_pins(CHECKOUT.sources_lock)
    compat, gxx = recipes["amdlibm-compat"], recipes["gxx"]
    [offer] = [o for o in channel.offers.values() if o.recipe.package.name == "amdlibm-compat"]
    of_gxx = assemble.recipe_hash(gxx, gxx.pins(pins))
    assert [tool.recipe for tool in offer.tools] == [gxx]
    assert offer.hash == assemble.recipe_hash(compat, compat.pins(pins), [of_gxx])
    assert offer.hash != assemble.recipe_hash(compat, compat.pins(pins), ["0" * 64])
    # Code of the compiler's stage decides the library's bytes, too.
    assert offer.cache_key != replace(offer, tools=()).cache_key


def test_an_unknown_build_requirement_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "recipes" / "made"
    folder.mkdir(parents=True)
    (folder / "recipe.yaml").write_text(
        "package: {name: made, version: '1'}\n"
        "requirements: {build: [gxxx]}\n"
        'about: {license: BSD-3-Clause, summary: s, republish: "yes"}\n'
        "extra: {stage: openblas-wheel}\n"
    )
    write_pins(tmp_path / "recipes/sources.lock", Pins())
    with pytest.raises(UsageError, match="the recipe made cannot be built with gxxx"):
        offers_module.read_channel(Workspace(tmp_path, tmp_path / "cache"))


def test_a_package_of_the_users_archive_is_not_offered(channel: Channel) -> None:
    names = {offer.recipe.package.name for offer in channel.offers.values()}
    assert "amdlibm-compat" in names and "amdlibm" not in names
