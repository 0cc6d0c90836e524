"""Failures in an engine are reported, and leave nothing behind."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from integration import small_image
from integration.engines import State, state
from integration.programs import called
from integration.small_image import FAILS, NAMES, PASSES, WAITS, Build, wait_for
from stacks.core.disk import REPOSITORY
from stacks.core.errors import VerifyError
from stacks.core.process import call
from stacks.image import docker
from stacks.image.engine import Engine, EngineError
from stacks.image.metadata import ImageConfig, config_of

pytestmark = pytest.mark.usefixtures("tidied")


@pytest.mark.parametrize("moment", ["load", "image_id"])
def test_ctrl_c_while_the_image_is_loaded(
    small: Build, before: State, engine: Engine, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the engine has it, and after."""
    load = Engine.load

    def and_interrupted(engine: Engine, archive: Path) -> None:
        if moment == "image_id":
            load(engine, archive)
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "load", and_interrupted)
    with pytest.raises(KeyboardInterrupt):
        small("exit 0 # interrupted")
    assert state(engine) == before


def test_a_container_that_is_killed_is_not_a_verification_that_ended(
    before: State, engine: Engine, tmp_path: Path
) -> None:
    with small_image.start(tmp_path, WAITS) as process:
        assert wait_for("verifying", process)
        [container] = state(engine).containers - before.containers
        engine.client.containers.get(container).kill()
        _, error = process.communicate()
    assert process.returncode == 2 and "could not be verified (status 137)" in error
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
    assert json.loads((tmp_path / "report.json").read_text())["ok"] is False


def test_an_image_for_a_device_that_this_machine_lacks(
    small: Build, before: State, engine: Engine
) -> None:
    with pytest.raises(VerifyError, match="built, and verified except for its device") as caught:
        small("exit 3")
    assert caught.value.exit_code == 3
    made = engine.image_id(NAMES[0])
    assert made and made not in before.images
    # The image was not verified in full: the next build verifies it again.
    with pytest.raises(VerifyError, match="except for its device"):
        small("exit 3")


def test_content_that_changes_on_its_way_to_the_engine(
    small: Build, before: State, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Engine.load

    def and_change(engine: Engine, archive: Path) -> None:
        with tarfile.open(archive) as tar:
            description = tar.extractfile("manifest.json")
            assert description
            # The lower ones the engine has already.
            member = tar.getmember(json.load(description)[0]["Layers"][-1])
        changed = gzip.decompress(archive.read_bytes()[member.offset_data :][: member.size])
        changed = gzip.compress(changed.replace(b"echo verifying", b"echo verified!", 1))
        with archive.open("r+b") as file:
            file.seek(member.offset_data)
            file.write(changed.ljust(member.size, b"\0"))
        load(engine, archive)

    monkeypatch.setattr(Engine, "load", and_change)
    with pytest.raises(EngineError, match="cannot load the image"):
        small("exit 0 # changed")
    assert state(engine) == before


def test_an_invalid_second_name_leaves_no_image(
    small: Build, before: State, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine accepts the first name and refuses the second."""

    def refused(*arguments: Any) -> ImageConfig:
        return replace(config_of(*arguments), tags=("1.0.5", "no tag"))

    monkeypatch.setattr(docker, "config_of", refused)
    with pytest.raises(EngineError, match=r"no tag|invalid tag|invalid reference"):
        small("exit 0 # other")
    assert state(engine) == before


def test_a_missing_base_image(small: Build, before: State, engine: Engine) -> None:
    with pytest.raises(EngineError) as caught:
        small(PASSES, base_name="127.0.0.1:9/no-such-base:1")
    assert "the base image 127.0.0.1:9/no-such-base:1 cannot be pulled" in caught.value.what
    assert "leave out --base" in str(caught.value)
    assert state(engine) == before


def test_the_disk_of_the_engine_is_full(
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


def test_no_permission_to_use_the_socket(engine: Engine, engine_root: Path) -> None:
    find = "from stacks.image import engine; engine.find()"
    done = called(
        [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--no-new-privs",
            sys.executable,
            "-c",
            find,
        ],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert "EngineError: this user may not use the container engine" in done.stderr
    assert "sudo usermod -aG docker" in done.stderr
