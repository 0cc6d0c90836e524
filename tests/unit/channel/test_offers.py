from __future__ import annotations

import json
from pathlib import Path

import pytest

from stacks.channel import assemble
from stacks.channel import build as package_builds
from stacks.channel import offers as offers_module
from stacks.channel import solve as solver
from stacks.channel.offers import Channel
from stacks.channel.recipe import SOURCES_LOCK, read_recipes
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources.pins import read_pins


@pytest.fixture(scope="module")
def channel(workspace: Workspace) -> Channel:
    return offers_module.read_channel(workspace)


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


def test_a_solution_is_sorted_and_whole(channel: Channel) -> None:
    found = solver.solve(channel, ["six", "python 2.7.*", "gxx"])
    names = [f"{o.recipe.package.name} {o.recipe.package.version}" for o in found]
    assert names == ["gxx 10.2.1", "libgcc-runtime 10.2.1", "python 2.7.18", "six 1.16.0"]


def test_what_fits_not_together(channel: Channel) -> None:
    with pytest.raises(UsageError, match=r"(?s)cannot satisfy python 3.9.\*, theano ==0.8.2\n.+"):
        solver.solve(channel, ["python 3.9.*", "theano ==0.8.2"])


@pytest.mark.parametrize("spec", ["six ==", "six >=1,<", "=", "six [["])
def test_specs_that_are_none(spec: str, channel: Channel) -> None:
    with pytest.raises(UsageError, match="correct the specs in envs/"):
        solver.solve(channel, [spec])


def test_nothing_missing_builds_nothing(workspace: Workspace, channel: Channel) -> None:
    assert package_builds.build_missing(workspace, channel, []) == {}


def test_recipes_that_are_not_there(tmp_path: Path) -> None:
    assert offers_module.read_channel(recipes=tmp_path).offers == {}


def test_an_offer_follows_from_the_packages_that_build_it() -> None:
    recipes, pins = read_recipes(), read_pins(SOURCES_LOCK)
    compat, gxx = recipes["amdlibm-compat"], recipes["gxx"]
    offers = offers_module.read_channel().offers.values()
    [offer] = [o for o in offers if o.recipe.package.name == "amdlibm-compat"]
    of_gxx = assemble.inputs_hash(gxx, gxx.pins(pins))
    assert offer.tools == (gxx,)
    assert offer.inputs == assemble.inputs_hash(compat, compat.pins(pins), [of_gxx])
    assert offer.inputs != assemble.inputs_hash(compat, compat.pins(pins), ["0" * 64])


def test_an_unknown_build_requirement_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "recipes" / "made"
    folder.mkdir(parents=True)
    (folder / "recipe.yaml").write_text(
        "package: {name: made, version: '1'}\n"
        "requirements: {build: [gxxx]}\n"
        "about: {license: BSD-3-Clause, summary: s}\n"
        "extra: {stage: openblas-wheel}\n"
    )
    with pytest.raises(UsageError, match="the recipe made cannot be built with gxxx"):
        offers_module.read_channel(tmp_path / "recipes")


def test_a_package_of_the_users_archive_is_not_offered() -> None:
    names = {offer.recipe.package.name for offer in offers_module.read_channel().offers.values()}
    assert "amdlibm-compat" in names and "amdlibm" not in names
