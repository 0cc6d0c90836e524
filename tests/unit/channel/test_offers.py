from __future__ import annotations

import json
from pathlib import Path

import pytest

from stacks.channel import offers as offers_module
from stacks.channel.offers import Channel
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pins, write_pins
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


def test_recipes_that_are_not_there(tmp_path: Path) -> None:
    write_pins(tmp_path / "recipes/sources.lock", Pins())
    assert offers_module.read_channel(Workspace(tmp_path, tmp_path / "cache")).offers == {}
