"""Images in an engine, by one that is made in a second: its config, its layers, the second run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration import small_image
from integration.engines import State, inspect, layers_of, state, use_builder
from integration.small_image import NAMES, PASSES, WAITS, Build, wait_for
from stacks.core.workspace import Workspace
from stacks.image import base
from stacks.image.config import config_of
from stacks.image.engine import Engine

pytestmark = pytest.mark.usefixtures("tidied")


def test_an_image_has_its_config(workspace: Workspace, small: Build, engine: Engine) -> None:
    small(PASSES)
    image = inspect(engine, NAMES[0])
    assert engine.image_id(NAMES[1]) == image["Id"]
    config = config_of(workspace, small_image.variant(workspace))
    assert image["Config"]["Labels"] == config.labels
    assert dict(e.split("=", 1) for e in image["Config"]["Env"]) == config.environment
    assert image["Config"]["User"] == config.user
    assert image["Config"]["WorkingDir"] == config.workdir
    assert tuple(image["Config"]["Entrypoint"]) == config.entrypoint
    assert tuple(image["Config"]["Cmd"] or ()) == config.command
    assert len(layers_of(image)) == 4


def test_a_ready_image_is_not_built_again(
    workspace: Workspace,
    small: Build,
    engine: Engine,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    small(PASSES)
    before = state(engine)
    assert "verifying" in capfd.readouterr().err
    small(PASSES)
    error = capfd.readouterr().err
    assert "verifying" not in error and f"ready    {' '.join(NAMES)}" in error
    small(PASSES, json_file=tmp_path / "report.json")
    assert "verifying" in capfd.readouterr().err
    assert json.loads((tmp_path / "report.json").read_text())["ok"] is True
    assert state(engine) == before
    engine.call("tag", base.name(workspace), NAMES[1])
    small(PASSES)
    assert (
        engine.image_id(NAMES[1])
        == engine.image_id(NAMES[0])
        != engine.image_id(base.name(workspace))
    )


def test_every_builder_makes_the_same_layers_each_time(
    workspace: Workspace, small: Build, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = []
    for number, builder in enumerate("001"):
        use_builder(monkeypatch, builder)
        # A base of another id, so that nothing comes from a builder's cache.
        name = f"theano-small-test-base:{number}"
        engine.call("import", "--message", name, base.tar(workspace), name)
        small(PASSES, base_name=name)
        image = inspect(engine, NAMES[0])
        assert image["Config"]["Labels"]["org.opencontainers.image.base.name"] == name
        layers.append(layers_of(image))
        engine.call("image", "rm", *NAMES, name)
    assert len(layers[0]) == 4
    assert layers == [layers[0]] * 3


def test_concurrent_builds(before: State, engine: Engine, tmp_path: Path) -> None:
    """The second build waits, then finds the image ready."""
    with small_image.start(tmp_path, WAITS) as first:
        assert wait_for("verifying", first)
        with small_image.start(tmp_path, WAITS) as second:
            assert wait_for(f"waiting: the image {NAMES[0]} is being made", second)
            [container] = state(engine).containers - before.containers
            engine.call("exec", container, "touch", "/tmp/go")
            first.communicate()
            _, error = second.communicate()
    assert (first.returncode, second.returncode) == (0, 0), error
    assert f"ready    {NAMES[0]}" in error
