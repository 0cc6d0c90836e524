"""Images in an engine, by one that is made in a second: made, made again, and failures."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.engines import (
    NAMES,
    PASSES,
    WAITS,
    Build,
    State,
    building,
    import_root,
    prints,
    state,
)
from stacks.core.errors import VerifyError
from stacks.core.workspace import Workspace
from stacks.image import base
from stacks.image.engine import Engine

pytestmark = pytest.mark.usefixtures("tidied")

OTHER = "theano-small-test-base:1"


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
    engine.tag(other, NAMES[1])
    small(PASSES)
    assert engine.image_id(NAMES[1]) == engine.image_id(NAMES[0]) != engine.image_id(other)


def test_concurrent_builds(before: State, engine: Engine, tmp_path: Path) -> None:
    """The second build waits, then finds the image ready."""
    with building(tmp_path, WAITS) as first:
        assert prints(first, "verifying")
        with building(tmp_path, WAITS) as second:
            assert prints(second, f"waiting: the image {NAMES[0]} is being made")
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

    with building(tmp_path / "one", play) as one:
        assert prints(one, "verifying")
        [first] = state(engine).containers - before.containers
        with building(tmp_path / "two", play) as two:
            assert prints(two, "verifying")
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


@pytest.mark.parametrize("is_loaded", [False, True])
def test_ctrl_c_while_the_image_is_loaded(
    small: Build, before: State, engine: Engine, is_loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Engine.load

    def and_interrupted(engine: Engine, archive: Path) -> None:
        if is_loaded:
            load(engine, archive)
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "load", and_interrupted)
    with pytest.raises(KeyboardInterrupt):
        small("exit 0 # interrupted")
    assert state(engine) == before


@pytest.mark.parametrize("how", ["ctrl-C", "container killed"])
def test_a_verification_that_does_not_end(
    how: str, before: State, engine: Engine, tmp_path: Path
) -> None:
    # No other test has left this image.
    with building(tmp_path, f"{WAITS} # {how}") as process:
        assert prints(process, "verifying")
        if how == "ctrl-C":
            process.send_signal(signal.SIGINT)
        else:
            [container] = state(engine).containers - before.containers
            engine.client.containers.get(container).kill()
        _, error = process.communicate()
    assert process.returncode == (130 if how == "ctrl-C" else 2)
    assert ("could not be verified (status 137)" in error) == (how != "ctrl-C")
    assert state(engine) == before


def test_an_image_for_a_device_that_this_machine_lacks(
    small: Build, before: State, engine: Engine
) -> None:
    # It was not verified in full: the next build verifies it again.
    for _ in range(2):
        with pytest.raises(VerifyError, match="verified except for its device") as caught:
            small("exit 3")
        assert caught.value.exit_code == 3
    made = engine.image_id(NAMES[0])
    assert made and made not in before.images
