from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.tiny import Tiny, prepare
from stacks import pipeline
from stacks.variant import load_variant

# What conda-lock carries of conda warns of conda's own plans when it is loaded.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import conda_lock.lockfile
    import conda_lock.models.channel  # noqa: F401

MakePrefix = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def prefix() -> MakePrefix:
    """Give the function that returns an environment by framework and flavour, made where needed."""

    def make(framework: str, flavour: str) -> Path:
        return pipeline.make_environment(load_variant(flavour, framework))

    return make


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return prepare(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(tiny_model: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """Give two small variants with a cache of their own that has all packages and sources."""
    root = tmp_path / "tiny"
    shutil.copytree(tiny_model.root, root)
    monkeypatch.setenv("THEANO_STACKS_CACHE", str(root / "cache"))
    return Tiny(root)
