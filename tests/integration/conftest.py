from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from integration import engines
from integration.engines import Running
from integration.tiny import Tiny, prepare
from stacks import engine as engine_door
from stacks import pipeline
from stacks.engine import Engine
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
def running_engine() -> Iterator[Running]:
    with engines.running() as running:
        yield running


@pytest.fixture
def engine(running_engine: Running, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Give a container engine that answers; what the test starts finds it, too."""
    if running_engine.host:
        monkeypatch.setenv("DOCKER_HOST", running_engine.host)
    return engine_door.find()


@pytest.fixture
def engine_root(running_engine: Running) -> Path:
    """Give the folder of an engine that the tests may do harm to."""
    if not running_engine.root:
        pytest.skip("the engine that runs is not the tests' own")
    return running_engine.root


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
