"""Images in an engine, by one that is made in a second: its config, its layers, the second run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration import small_image
from integration.engines import State, import_root, inspect, state
from integration.small_image import NAMES, PASSES, WAITS, Build, wait_for
from stacks.core.disk import sha256_of
from stacks.core.workspace import Workspace
from stacks.image import base
from stacks.image.engine import Engine
from stacks.image.metadata import config_of

pytestmark = pytest.mark.usefixtures("tidied")

OTHER = "theano-small-test-base:1"


def test_an_image_has_its_config_and_its_layers(
    workspace: Workspace, small: Build, engine: Engine
) -> None:
    small(PASSES)
    image = inspect(engine, NAMES[0])
    assert engine.image_id(NAMES[1]) == image["Id"]
    config = config_of(workspace, small_image.variant(workspace))
    assert image["Config"]["Labels"] == config.labels
    assert dict(e.split("=", 1) for e in image["Config"]["Env"]) == config.environment
    assert image["Config"]["User"] == config.user
    assert image["Config"]["WorkingDir"] == config.workdir
    assert tuple(image["Config"]["Entrypoint"]) == config.entrypoint
    assert not image["Config"]["Cmd"]
    layers = image["RootFS"]["Layers"]
    assert len(layers) == 4 and layers[0] == f"sha256:{sha256_of(base.tar(workspace))}"


@pytest.fixture
def other(workspace: Workspace, engine: Engine) -> Iterator[str]:
    """Give the name of another image with the files of the base."""
    import_root(engine, base.tar(workspace), OTHER)
    yield OTHER
    engine.remove_name(OTHER)


def test_a_ready_image_is_not_built_again(
    small: Build, engine: Engine, other: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
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
    engine.tag(other, NAMES[1:])
    small(PASSES)
    assert engine.image_id(NAMES[1]) == engine.image_id(NAMES[0]) != engine.image_id(other)


def test_an_image_on_another_base_has_its_layers_and_is_built_again_once_that_changes(
    small: Build, engine: Engine, other: str, capfd: pytest.CaptureFixture[str]
) -> None:
    variables = ["LANG=C", "NVIDIA_VISIBLE_DEVICES=all"]
    container = engine.client.containers.create(other, "sh", environment=variables)
    container.commit(*other.split(":"), changes="LABEL of=base")
    container.remove()
    small(PASSES, base_name=other)
    image = inspect(engine, NAMES[0])
    assert image["RootFS"]["Layers"][:-3] == inspect(engine, other)["RootFS"]["Layers"]
    assert image["Config"]["Labels"]["org.opencontainers.image.base.name"] == other
    # As with FROM: what the image does not set stays as the base has it.
    assert image["Config"]["Labels"]["of"] == "base"
    assert {"LANG=C.UTF-8", "NVIDIA_VISIBLE_DEVICES=all"} <= set(image["Config"]["Env"])
    capfd.readouterr()
    small(PASSES, base_name=other)
    assert "verifying" not in capfd.readouterr().err
    container = engine.client.containers.create(other, "sh")
    container.commit(*other.split(":"), changes="LABEL of=another")
    container.remove()
    small(PASSES, base_name=other)
    assert inspect(engine, NAMES[0])["Config"]["Labels"]["of"] == "another"


def test_concurrent_builds(before: State, engine: Engine, tmp_path: Path) -> None:
    """The second build waits, then finds the image ready."""
    with small_image.start(tmp_path, WAITS) as first:
        assert wait_for("verifying", first)
        with small_image.start(tmp_path, WAITS) as second:
            assert wait_for(f"waiting: the image {NAMES[0]} is being made", second)
            [container] = state(engine).containers - before.containers
            engine.client.containers.get(container).exec_run(["touch", "/tmp/go"])
            first.communicate()
            _, error = second.communicate()
    assert (first.returncode, second.returncode) == (0, 0), error
    assert f"ready    {NAMES[0]}" in error


def test_a_build_in_another_checkout_leaves_this_ones_alone(
    before: State, engine: Engine, tmp_path: Path
) -> None:
    """Both load the same image; where one build fails, the other keeps its image."""
    play = f"{WAITS}; exit $(cat /tmp/go)"

    def end(container: str, status: int) -> None:
        words = ["sh", "-c", f"echo {status} >/tmp/go.part; mv /tmp/go.part /tmp/go"]
        engine.client.containers.get(container).exec_run(words)

    with small_image.start(tmp_path / "one", play) as one:
        assert wait_for("verifying", one)
        [first] = state(engine).containers - before.containers
        with small_image.start(tmp_path / "two", play) as two:
            assert wait_for("verifying", two)
            [second] = state(engine).containers - before.containers - {first}
            end(second, 2)
            two.communicate()
        end(first, 0)
        one.communicate()
    assert (one.returncode, two.returncode) == (0, 2)
    made = {engine.image_id(name) for name in NAMES}
    assert len(made) == 1 and made <= state(engine).images - before.images
    tags = {tag for image in engine.client.images.list() for tag in image.tags}
    assert not {tag for tag in tags if "unverified" in tag}
