"""What the channel offers: packages of recipes and of settings, its index, and how they solve."""

from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import assemble, package
from stacks.channel.candidates import Channel, candidate_of, read_channel, solve, with_settings
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
    return read_channel(CHECKOUT)


def test_what_a_package_is_to_the_solver(channel: Channel) -> None:
    [six] = [each for each in channel.candidates.values() if each.recipe.package.name == "six"]
    assert six.index == {
        "name": "six",
        "version": "1.16.0",
        "build": six.build_string,
        "build_number": 0,
        "depends": ["python"],
        "constrains": [],
        "subdir": "noarch",
        "noarch": "python",
        "license": "MIT",
        "timestamp": 1704067200000,
    }
    for name, candidate in channel.candidates.items():
        assert candidate.file_name == name and candidate.url.endswith(
            f"/{candidate.recipe.subdir}/{name}"
        )
    # That of the user's archive is not offered.
    names = {candidate.recipe.package.name for candidate in channel.candidates.values()}
    solved = [
        candidate.recipe.package.name for candidate in solve(channel, ["theano ==0.8.2"], "2.36")
    ]
    assert {"python", "numpy", "theano"} < {*solved} and solved == sorted(solved)
    assert "amdlibm-compat" in names and "amdlibm" not in names


def test_a_recipe_is_built_with_packages_of_recipes(tmp_path: Path) -> None:
    own = Workspace(tmp_path, tmp_path / "cache")
    write_pins(own.sources_lock, Pins())
    folder = tmp_path / "recipes/made"
    folder.mkdir()
    (folder / "recipe.yaml").write_text(
        "package: {name: made, version: '1'}\n"
        "requirements: {build: [gxxx]}\n"
        'about: {license: BSD-3-Clause, summary: s, republish: "yes"}\n'
        "extra: {stage: openblas-wheel}\n"
    )
    with pytest.raises(UsageError, match="the recipe made cannot be built with gxxx"):
        read_channel(own)


def test_a_candidate_follows_from_the_packages_that_build_it(channel: Channel) -> None:
    recipes, pins = read_recipes(CHECKOUT.recipes), read_pins(CHECKOUT.sources_lock)
    compat, gxx = recipes["amdlibm-compat"], recipes["gxx"]
    [candidate] = [
        o for o in channel.candidates.values() if o.recipe.package.name == "amdlibm-compat"
    ]
    of_gxx = assemble.recipe_hash(gxx, gxx.pins(pins))
    assert [tool.recipe for tool in candidate.tools] == [gxx]
    assert candidate.hash == assemble.recipe_hash(compat, compat.pins(pins), [of_gxx])
    assert candidate.hash != assemble.recipe_hash(compat, compat.pins(pins), ["0" * 64])
    # Code of the compiler's stage decides the library's bytes, too.
    assert candidate.cache_key != replace(candidate, tools=()).cache_key


def test_the_candidate_of_settings_follows_from_the_variant(
    workspace: Workspace, variant: Variant
) -> None:
    candidate = candidate_of(variant)
    index = candidate.index
    assert (index["name"], index["version"]) == ("theano-settings", "1.0.5")
    assert index["noarch"] == "python"
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
    by_pip = candidate_of(load_variant(workspace, "pip-default", "pytensor-3.3.7"))
    assert by_pip.index["depends"] == ["python 3.13.*"]
    assert by_pip.file_name.startswith("pytensor-settings-3.3.7-h")
    assert by_pip.file_name.endswith("_0_pip_default.conda")
    other = load_variant(workspace, "openblas@conda-forge")
    found = with_settings(Channel({}, Pins()), [variant, variant, other])
    assert found.candidates == {candidate.file_name: candidate}


def test_other_settings_are_another_package(workspace: Workspace, variant: Variant) -> None:
    others = (
        variant.model_copy(update={"floatX": "float32"}),
        variant.model_copy(update={"variables": {"A": "b"}}),
        load_variant(workspace, "mkl"),
        load_variant(workspace, "openblas", "theano-pymc-1.1.2"),
    )
    candidates = [candidate_of(variant), candidate_of(variant, "c++"), *map(candidate_of, others)]
    assert len({candidate.hash for candidate in candidates}) == len(candidates)
    # What is no setting changes nothing: a stack.yaml has its flavour's package.
    more = {"name": "mine", "summary": "mine", "packages": ("six",), "requests": ("lasagne",)}
    assert candidate_of(variant.model_copy(update=more)) == candidates[0]


def test_settings_have_the_environments_path_where_they_are_installed(
    workspace: Workspace, variant: Variant, tmp_path: Path
) -> None:
    candidate = candidate_of(variant)
    built = package.build(workspace, candidate, Pins())
    other = replace(workspace, cache=tmp_path / "an other, é")
    assert package.build(other, candidate, Pins()).sha256 == built.sha256
    archive = read_archive(built.path)
    assert [name for name, entry in archive.files.items() if entry.is_rewritten] == ["etc/theanorc"]
    assert "share/licenses/theano-settings/LICENSE" in archive.files
    assert dict(archive.index).items() >= {"subdir": "noarch", "noarch": "python"}.items()


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (
            ["python 3.9.*", "theano ==0.8.2"],
            r"(?s)cannot satisfy python 3.9.\*, theano ==0.8.2\n.+",
        ),
        *(
            ([spec], "correct the specs in envs/")
            for spec in ("six ==", "six >=1,<", "=", "six [[")
        ),
    ],
)
def test_specs_that_nothing_satisfies(channel: Channel, specs: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve(channel, specs)
