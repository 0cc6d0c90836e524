"""The package with a variant's settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stacks.channel import package
from stacks.channel.archive import read_archive
from stacks.channel.offers import Channel, offer_of, with_settings
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pins
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


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
