"""What the channel offers: the packages of recipes, and those of variants' settings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import assemble, package
from stacks.channel import offers as offers_module
from stacks.channel.offers import Channel, offer_of, with_settings
from stacks.channel.recipe import read_recipes
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources.conda_archive import read_archive
from stacks.sources.pins import Pins, read_pins, write_pins
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
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


def test_the_offer_follows_from_the_variant(workspace: Workspace, variant: Variant) -> None:
    index = offer_of(variant).index
    assert (index["name"], index["version"], index["noarch"]) == (
        "theano-settings",
        "1.0.5",
        "python",
    )
    assert index["build"].endswith("_0_openblas")
    assert index["depends"] == [
        "blas-threads * *openblas",
        "libblas * *openblas",
        "libopenblas",
        "numpy ==1.21.6",
        "python 3.9.*",
        "scipy ==1.8.1",
        "six ==1.16.0",
        "theano ==1.0.5",
    ]
    by_pip = load_variant(workspace, "pip-default", "pytensor-3.3.7")
    assert offer_of(by_pip).index["depends"] == ["python 3.13.*"]
    assert offer_of(by_pip).file_name.startswith("pytensor-settings-3.3.7-h")
    assert offer_of(by_pip).file_name.endswith("_0_pip_default.conda")


def test_other_settings_are_another_package(workspace: Workspace, variant: Variant) -> None:
    others = (
        variant.model_copy(update={"floatX": "float32"}),
        variant.model_copy(update={"variables": {"A": "b"}}),
        load_variant(workspace, "mkl"),
        load_variant(workspace, "openblas", "theano-pymc-1.1.2"),
    )
    offers = [offer_of(variant), offer_of(variant, "c++"), *map(offer_of, others)]
    assert len({offer.hash for offer in offers}) == len(offers)
    # What is no setting changes nothing: a stack.yaml has its flavour's package.
    more = {"name": "mine", "summary": "mine", "packages": ("six",), "requests": ("lasagne",)}
    assert offer_of(variant.model_copy(update=more)) == offers[0]


def test_a_channel_with_the_settings_of_variants(workspace: Workspace, variant: Variant) -> None:
    other = load_variant(workspace, "openblas@conda-forge")
    offer = offer_of(variant)
    found = with_settings(Channel({}, Pins()), [variant, variant, other])
    assert found.offers == {offer.file_name: offer}


def test_the_package_has_the_environments_path_where_it_is_installed(
    workspace: Workspace, variant: Variant, tmp_path: Path
) -> None:
    offer = offer_of(variant)
    built = package.build(workspace, offer, Pins())
    other = replace(workspace, cache=tmp_path / "an other, é")
    assert package.build(other, offer, Pins()).sha256 == built.sha256
    archive = read_archive(built.path)
    assert [name for name, entry in archive.files.items() if entry.is_rewritten] == ["etc/theanorc"]
    assert "share/licenses/theano-settings/LICENSE" in archive.files
    assert dict(archive.index).items() >= {"subdir": "noarch", "noarch": "python"}.items()
