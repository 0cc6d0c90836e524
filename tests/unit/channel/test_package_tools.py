"""Packages that are built with others: their hashes follow from those; AMD's header is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import assemble
from stacks.channel import offers as offers_module
from stacks.channel.recipe import read_recipes
from stacks.channel.staging.amdlibm import header
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.user_packages import version_of
from stacks.sources.pins import Pins, read_pins, write_pins


def test_a_package_follows_from_what_it_is_built_with(workspace: Workspace) -> None:
    recipes, pins = read_recipes(workspace.recipes), read_pins(workspace.sources_lock)
    compat, gxx = recipes["amdlibm-compat"], recipes["gxx"]
    offers = offers_module.read_channel(workspace).offers.values()
    [offer] = [o for o in offers if o.recipe.package.name == "amdlibm-compat"]
    of_gxx = assemble.inputs_hash(gxx, gxx.pins(pins))
    assert offer.tools == (gxx,)
    assert offer.inputs == assemble.inputs_hash(compat, compat.pins(pins), [of_gxx])
    assert offer.inputs != assemble.inputs_hash(compat, compat.pins(pins), ["0" * 64])


def test_a_package_follows_from_its_own_sources(workspace: Workspace, tmp_path: Path) -> None:
    committed = read_recipes(workspace.recipes)["amdlibm-compat"]
    recipe = committed.model_copy(update={"recipes": tmp_path})
    hashes = set()
    source = tmp_path / "amdlibm-compat/src/kernels.c"
    source.parent.mkdir(parents=True)
    for text in ("int one;", "int two;"):
        source.write_text(text)
        hashes.add(assemble.inputs_hash(recipe, ()))
    assert len(hashes) == 2


def test_a_tool_that_is_no_package_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "recipes" / "made"
    folder.mkdir(parents=True)
    (folder / "recipe.yaml").write_text(
        "package: {name: made, version: '1'}\n"
        "requirements: {build: [gxxx]}\n"
        "about: {license: BSD-3-Clause, summary: s}\n"
        "extra: {stage: openblas-wheel}\n"
    )
    write_pins(tmp_path / "recipes/sources.lock", Pins())
    with pytest.raises(UsageError, match="the recipe made cannot be built with gxxx"):
        offers_module.read_channel(replace(workspace, root=tmp_path))


def test_what_is_the_users_own_is_no_offer(workspace: Workspace) -> None:
    names = {
        offer.recipe.package.name for offer in offers_module.read_channel(workspace).offers.values()
    }
    assert "amdlibm-compat" in names and "amdlibm" not in names


def test_the_header_has_a_loop_for_what_a_release_lacks() -> None:
    text = header({"amd_vrsa_expf", "amd_vrda_exp"})
    assert "\nvoid amd_vrsa_expf(int n, float *x, float *z);\n" in text
    assert "static inline void amd_vrsa_powxf(int n, float *x, float y, float *z) " in text
    assert "z[i] = powf(x[i], y);" in text
    assert text.count("amd_vrda_") == 6 and text.count("amd_vrsa_") == 8


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("aocl-libm-linux-gcc-4.2.0.tar.gz", "4.2.0"),
        ("aocl-linux-aocc-5.0.0_1.tar.gz", "5.0.0"),
        ("amdlibm-3-0-2.tar.gz", "3.0.2"),
        ("library.tar.gz", "0"),
    ],
)
def test_the_version_is_the_archives(name: str, version: str) -> None:
    assert version_of(name) == version
