from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.offers import read_channel
from stacks.core.workspace import Workspace
from stacks.environments.make import own_channel
from stacks.environments.make.key import key_of
from stacks.locks.lock import Lock
from stacks.variants.load import load_variant
from stacks.variants.variant import ACCELERATOR, SCAN_FIX

LOCK = Lock(packages=(), requirements=())


@pytest.mark.parametrize(
    ("flavour", "framework", "names"),
    [
        ("openblas@conda-forge", "theano-1.0.5", [ACCELERATOR, SCAN_FIX, "theano-settings"]),
        ("openblas@conda-forge", "pytensor-3.3.7", [SCAN_FIX, "pytensor-settings"]),
        ("pip-default@conda-forge", "theano-1.0.5", ["theano-settings"]),
        ("openblas@conda-forge", "aesara-2.8.7", ["aesara-settings"]),
        ("openblas", "theano-1.0.5", []),
    ],
)
def test_packages_beside_another_channels(
    workspace: Workspace, flavour: str, framework: str, names: list[str]
) -> None:
    offers = own_channel.offers(workspace, load_variant(workspace, flavour, framework))
    assert [offer.recipe.package.name for offer in offers] == names
    accelerator = [o for o in offers if o.recipe.package.name in (ACCELERATOR, SCAN_FIX)]
    assert {offer.file_name for offer in accelerator} <= read_channel(workspace).offers.keys()


def test_environment_of_another_channel_depends_on_them(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("openblas", "openblas@conda-forge")
    variants = [load_variant(workspace, name) for name in names]
    before = [key_of(workspace, variant, LOCK, Path("/a")) for variant in variants]
    monkeypatch.setattr(own_channel, "recipe_hash", lambda recipe, pins: "1" * 64)
    after = [key_of(workspace, variant, LOCK, Path("/a")) for variant in variants]
    assert before[0] == after[0] and before[1] != after[1]


def test_parts_are_built(workspace: Workspace) -> None:
    variant = load_variant(workspace, "openblas@conda-forge")
    parts = own_channel.parts(workspace, variant, read_channel(workspace).pins, [])
    files = {name for part in parts for name in part.files("3.9")}
    folder = "lib/python3.9/site-packages"
    assert {f"{folder}/theano_stacks_quick.pth", f"{folder}/theano_stacks_scan.py"} <= files
