"""Images in an engine, by one that is made in a second: what fails leaves nothing behind."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from integration import small_image
from integration.engines import Running
from integration.small_image import BREAKS, FAILS, PASSES, WAITS
from stacks import engine as engines
from stacks.command import call
from stacks.disk import REPOSITORY
from stacks.engine import Engine, EngineError
from stacks.errors import IntegrityError, VerifyError
from stacks.image import archive, base, contents, docker, dockerfile
from stacks.image.config import ImageConfig, config_of
from stacks.image.contents import Layer

NAME = "theano-small-test"
NAMES = (f"{NAME}:1.0.5", f"{NAME}:latest")
EMPTY = "sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"


@dataclass(frozen=True)
class State:
    """What an engine has."""

    images: frozenset[str]
    containers: frozenset[str]
    names: tuple[str | None, ...]


def state(engine: Engine) -> State:
    images = engine.ask("images", "--all", "--quiet", "--no-trunc").split()
    containers = engine.ask("ps", "--all", "--quiet").split()
    return State(
        frozenset(images), frozenset(containers), tuple(engine.image_id(name) for name in NAMES)
    )


def inspect(engine: Engine, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(engine.ask("image", "inspect", name))[0]
    return found


def layers_of(image: dict[str, Any]) -> list[str]:
    """Return the layers of an image but the empty one that BuildKit makes of WORKDIR."""
    found: list[str] = image["RootFS"]["Layers"]
    return [layer for layer in found if layer != EMPTY]


def wait_for(line: str, process: subprocess.Popen[str]) -> bool:
    """Read what a process says until it says this; say whether it does."""
    assert process.stderr
    return any(said.rstrip() == line for said in process.stderr)


def use_builder(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    """Have docker build with the older builder (0) or BuildKit (1); skip where it has it not."""
    monkeypatch.setenv("DOCKER_BUILDKIT", wanted)
    for folder in os.get_exec_path():
        if (Path(folder) / "docker").is_file():
            monkeypatch.setenv(engines.CHOICE, f"{folder}/docker")
            if engines.find().environment["DOCKER_BUILDKIT"] == wanted:
                return
    pytest.skip("no docker here drives BuildKit" if wanted == "1" else "no docker here")


Build = Callable[..., None]


@pytest.fixture
def small(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Give the function that builds the small image, whose entry program plays a part."""
    place = tmp_path / "place"
    monkeypatch.setattr(contents, "place_of", lambda variant: place)
    monkeypatch.setattr(docker, "REPORTS", tmp_path / "reports")

    def build(play: str, **options: Any) -> None:
        layers = small_image.write(tmp_path / hashlib.sha256(play.encode()).hexdigest(), play)
        monkeypatch.setattr(contents, "lay_out", lambda variant: layers)
        docker.build(small_image.variant(), **options)

    return build


@pytest.fixture
def before(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> State:
    """Give the state of an engine that has an image by the names already, and the base."""
    docker.prepare_base(engine)
    if not engine.image_id(NAMES[0]):
        root = tmp_path_factory.mktemp("before")
        small_image.start(root, PASSES).communicate()
    return state(engine)


@pytest.fixture(scope="module", autouse=True)
def tidied(running_engine: Running) -> Iterator[None]:
    yield
    host = ["--host", running_engine.host] if running_engine.host else []
    words = ["docker", *host, "image", "rm", *NAMES]
    subprocess.run(words, capture_output=True, check=False)


def test_an_image_is_as_its_config_says(small: Build, engine: Engine) -> None:
    small(PASSES)
    image = inspect(engine, NAMES[0])
    assert engine.image_id(NAMES[1]) == image["Id"]
    config = config_of(small_image.variant())
    assert image["Config"]["Labels"] == config.labels
    assert dict(e.split("=", 1) for e in image["Config"]["Env"]) == config.environment
    assert image["Config"]["User"] == config.user
    assert image["Config"]["WorkingDir"] == config.workdir
    assert tuple(image["Config"]["Entrypoint"]) == config.entrypoint
    assert tuple(image["Config"]["Cmd"] or ()) == config.command
    assert len(layers_of(image)) == 4


def test_an_image_that_is_ready_is_not_built_again(
    small: Build, engine: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    small(PASSES)
    before = state(engine)
    assert "verifying" in capfd.readouterr().err
    small(PASSES)
    error = capfd.readouterr().err
    assert "verifying" not in error and f"ready    {' '.join(NAMES)}" in error
    small(PASSES, json_file=tmp_path / "report.json")
    assert "verifying" in capfd.readouterr().err
    assert json.loads((tmp_path / "report.json").read_text()) == {}
    assert state(engine) == before
    engine.ask("tag", base.name(), NAMES[1])
    small(PASSES)
    assert engine.image_id(NAMES[1]) == engine.image_id(NAMES[0]) != engine.image_id(base.name())


def test_every_builder_makes_the_same_layers_each_time(
    small: Build, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = []
    for number, builder in enumerate("001"):
        use_builder(monkeypatch, builder)
        # A base of another id, so that nothing comes from a builder's cache.
        name = f"theano-small-test-base:{number}"
        engine.ask("import", "--message", name, base.tar(), name)
        small(PASSES, base_name=name)
        image = inspect(engine, NAMES[0])
        assert image["Config"]["Labels"]["org.opencontainers.image.base.name"] == name
        layers.append(layers_of(image))
        engine.ask("image", "rm", *NAMES, name)
    assert len(layers[0]) == 4
    assert layers == [layers[0]] * 3


@pytest.mark.parametrize("builder", ["0", "1"])
def test_a_step_that_fails(
    small: Build, before: State, engine: Engine, builder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_builder(monkeypatch, builder)
    text_of = dockerfile.text_of
    monkeypatch.setattr(
        dockerfile, "text_of", lambda v: text_of(v).replace("ADD settings", "ADD no-such")
    )
    with pytest.raises(EngineError, match=r"(?s)no-such.tar.*(not found|not exist)"):
        small(f"exit 0 # {builder}")
    assert state(engine) == before


# The last of these comes when BuildKit is done with the image, and its program is not.
@pytest.mark.parametrize(
    ("builder", "moment"),
    [("0", "ADD settings"), ("1", "ADD settings"), ("1", "writing image")],
)
def test_ctrl_c_in_the_build(
    small: Build,
    before: State,
    engine: Engine,
    builder: str,
    moment: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_builder(monkeypatch, builder)
    tell = docker._Progress.tell

    def interrupted(progress: docker._Progress, line: str) -> None:
        tell(progress, line)
        if moment in line:
            raise KeyboardInterrupt

    monkeypatch.setattr(docker._Progress, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        small(f"exit 0 # {builder}")
    assert state(engine) == before


def test_ctrl_c_in_the_verification(before: State, engine: Engine, tmp_path: Path) -> None:
    with small_image.start(tmp_path, WAITS) as process:
        assert wait_for("verifying", process)
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130
    assert state(engine) == before


def test_a_verification_that_fails(
    small: Build, before: State, engine: Engine, tmp_path: Path
) -> None:
    with pytest.raises(VerifyError, match="/small-test failed its verification"):
        small(FAILS, json_file=tmp_path / "report.json")
    assert state(engine) == before
    assert json.loads((tmp_path / "report.json").read_text()) == {}


def test_a_verification_that_cannot_run(small: Build, before: State, engine: Engine) -> None:
    with pytest.raises(VerifyError, match=r"could not be verified \(status 2\)"):
        small(BREAKS)
    assert state(engine) == before


def test_an_image_whose_device_is_not_here_is_made_and_told(
    small: Build, before: State, engine: Engine
) -> None:
    with pytest.raises(VerifyError, match="made, and verified but for its device") as caught:
        small("exit 3")
    assert caught.value.exit_code == 3
    made = engine.image_id(NAMES[0])
    assert made and made not in before.images
    # It is no image that was verified: the next build does it again.
    with pytest.raises(VerifyError, match="but for its device"):
        small("exit 3")


def test_content_that_changes_under_the_build(
    small: Build, before: State, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = docker._context

    @contextmanager
    def and_change(*arguments: Any) -> Iterator[tuple[Path, dict[str, archive.Entry]]]:
        with context(*arguments) as (folder, entries):
            file = folder / "packages.tar"
            file.write_bytes(file.read_bytes().replace(b"packages\npack", b"packages\npuck", 1))
            yield folder, entries

    monkeypatch.setattr(docker, "_context", and_change)
    with pytest.raises(IntegrityError) as caught:
        small(PASSES)
    assert caught.value.what.startswith(f"1 files of {NAMES[0]} are not the ones")
    assert "opt/theano/share/packages: its content is" in str(caught.value.found)
    assert state(engine) == before


def test_content_that_changes_before_the_build(
    small: Build, before: State, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = small_image.write

    def and_change(root: Path, play: str) -> tuple[Layer, ...]:
        layers = write(root, play)
        (layers[0].folder / "opt/theano/share/packages").write_text("other")
        return layers

    monkeypatch.setattr(small_image, "write", and_change)
    with pytest.raises(IntegrityError, match=r"1 files of .* have changed since") as caught:
        small("exit 0 # other")
    assert caught.value.found == "opt/theano/share/packages"
    assert state(engine) == before


def test_a_name_that_is_refused(
    small: Build, before: State, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is given, the second is not."""

    def refused(*arguments: Any) -> ImageConfig:
        return replace(config_of(*arguments), tags=("1.0.5", "no tag"))

    monkeypatch.setattr(docker, "config_of", refused)
    with pytest.raises(EngineError, match="no tag"):
        small("exit 0 # other")
    assert state(engine) == before


def test_a_base_that_is_not_there(small: Build, before: State, engine: Engine) -> None:
    with pytest.raises(EngineError) as caught:
        small(PASSES, base_name="127.0.0.1:9/no-such-base:1")
    assert "the base image 127.0.0.1:9/no-such-base:1 is not here" in caught.value.what
    assert "leave --base out" in str(caught.value)
    assert state(engine) == before


def test_an_engine_whose_disk_is_full(
    small: Build, before: State, engine: Engine, engine_root: Path
) -> None:
    inside = ["nsenter", "--mount", "--target", (engine_root / "pid").read_text()]
    place = engine_root / "root/tmp"
    call([*inside, "mount", "-t", "tmpfs", "-o", "size=16k", "full", place])
    try:
        with pytest.raises(EngineError) as caught:
            small("exit 0 # other")
    finally:
        call([*inside, "umount", place])
    assert caught.value.what == "the disk of the container engine is full"
    assert "no space left on device" in str(caught.value.found)
    assert state(engine) == before


def test_two_builds_at_once(before: State, engine: Engine, tmp_path: Path) -> None:
    """The second waits, and finds the image ready."""
    with small_image.start(tmp_path, WAITS) as first:
        assert wait_for("verifying", first)
        with small_image.start(tmp_path, WAITS) as second:
            assert wait_for(f"waiting: another process is making the image {NAMES[0]}", second)
            [container] = state(engine).containers - before.containers
            engine.ask("exec", container, "touch", "/tmp/go")
            first.communicate()
            _, error = second.communicate()
    assert (first.returncode, second.returncode) == (0, 0), error
    assert f"ready    {NAMES[0]}" in error


def test_a_daemon_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(EngineError, match="the container engine does not answer") as caught:
        engines.find()
    assert "Cannot connect to the Docker daemon" in str(caught.value.found)
    assert "--to oci" in str(caught.value)


def test_a_socket_that_may_not_be_used(engine: Engine, engine_root: Path) -> None:
    find = "from stacks import engine; engine.find()"
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs",
         sys.executable, "-c", find],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "EngineError: you may not talk to the container engine" in done.stderr
    assert "sudo usermod -aG docker" in done.stderr
