"""What stacks.image.engine makes of what docker and podman say, by programs that say it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.image import engine
from stacks.image.engine import EngineError

NEW = {"Client": {"Version": "28.2.2"}, "Server": {"Version": "28.2.2", "ApiVersion": "1.50"}}
OLD = {"Client": {"Version": "20.10.24"}, "Server": {"Version": "20.10.24", "ApiVersion": "1.41"}}
PODMAN = {"Client": {"Version": "4.3.1", "APIVersion": "4.3.1"}}

Environ = dict[str, str]
Make = Callable[..., Environ]


@pytest.fixture
def programs(tmp_path: Path) -> Make:
    """Give the function that writes a program and returns the environment that has it."""

    def make(name: str, answer: object, *, status: int = 0, buildx: bool = False) -> Environ:
        text = answer if isinstance(answer, str) else json.dumps(answer)
        stream = "2" if status else "1"
        path = tmp_path / name
        path.write_text(
            f"""#!/bin/sh
case "$1" in
buildx) {"echo v0.13" if buildx else "exit 1"} ;;
*) printf '%s\\n' '{text}' >&{stream}; exit {status} ;;
esac
"""
        )
        path.chmod(0o755)
        return {"PATH": str(tmp_path)}

    return make


def test_docker_comes_before_podman(programs: Make, tmp_path: Path) -> None:
    programs("podman", PODMAN)
    environ = programs("docker", OLD)
    found = engine.find(environ)
    assert (found.kind, found.version) == ("docker", "20.10.24")
    assert found.program == str(tmp_path / "docker")
    assert engine.find({**environ, engine.CHOICE: "podman"}).kind == "podman"
    assert engine.find({**environ, engine.CHOICE: str(tmp_path / "podman")}).kind == "podman"


def test_podman_where_there_is_no_docker(programs: Make) -> None:
    found = engine.find(programs("podman", PODMAN))
    assert (found.kind, found.version) == ("podman", "4.3.1")


def test_podman_by_the_name_of_docker(programs: Make) -> None:
    assert engine.find(programs("docker", PODMAN)).kind == "podman"


@pytest.mark.parametrize(
    ("version", "buildx", "requested", "taken"),
    [
        (OLD, False, None, "1"),
        (NEW, False, None, "0"),
        (NEW, True, None, "1"),
        (NEW, False, "1", "0"),
        (NEW, True, "0", "0"),
        (OLD, False, "0", "0"),
    ],
)
def test_the_best_builder_that_docker_has(
    programs: Make, version: Any, buildx: bool, requested: str | None, taken: str
) -> None:
    environ = programs("docker", version, buildx=buildx)
    if requested is not None:
        environ["DOCKER_BUILDKIT"] = requested
    assert engine.find(environ).environment["DOCKER_BUILDKIT"] == taken


def test_no_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        engine.find({"PATH": str(tmp_path)})
    assert str(caught.value) == (
        "no container engine is installed\n"
        "  expected: docker or podman on PATH\n"
        "  found:    neither\n"
        "  fix:      install one (Debian, Ubuntu: apt install docker.io), or write the image to a "
        "file, which needs no engine: --to oci"
    )


def test_an_engine_that_was_chosen_and_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        engine.find({"PATH": str(tmp_path), engine.CHOICE: "dokcer"})
    assert caught.value.found == "dokcer"
    assert engine.CHOICE in caught.value.what


def test_an_engine_that_is_too_old(programs: Make) -> None:
    old = {**OLD, "Server": {"Version": "19.03.15", "ApiVersion": "1.40"}}
    with pytest.raises(EngineError, match="the container engine is too old") as caught:
        engine.find(programs("docker", old))
    assert caught.value.expected == "Docker's API 1.41 or newer (Docker 20.10)"
    assert caught.value.found == "1.40 (version 19.03.15)"
    with pytest.raises(EngineError) as caught:
        engine.find(programs("docker", {"Client": {"Version": "3.4.4", "APIVersion": "3.4.4"}}))
    assert (caught.value.expected, caught.value.found) == ("podman 4.3 or newer", "3.4.4")


@pytest.mark.parametrize("answer", ["", "hello", "[]", "{}", '{"Client": {"Version": "1"}}'])
def test_a_program_that_is_no_engine(programs: Make, answer: str) -> None:
    with pytest.raises(EngineError, match="is not a container engine"):
        engine.find(programs("docker", answer))


@pytest.mark.parametrize(
    ("output", "what", "fix"),
    [
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker "
            "daemon running?",
            "the container engine does not answer",
            "start it",
        ),
        (
            "failed to connect to the docker API at unix:///run/docker.sock; check if the path is "
            "correct and if the daemon is running: dial unix: no such file",
            "the container engine does not answer",
            "start it",
        ),
        (
            "permission denied while trying to connect to the Docker daemon socket at "
            "unix:///run/docker.sock: dial unix /run/docker.sock: connect: permission denied",
            "this user may not use the container engine",
            "usermod -aG docker",
        ),
        (
            "Error response from daemon: client version 1.41 is too old. Minimum supported API "
            "version is 1.44",
            "the docker program and its engine have no API version in common",
            "upgrade",
        ),
        (
            "write /var/lib/docker/tmp/x: no space left on device",
            "the disk of the container engine is full",
            "docker system df",
        ),
    ],
)
def test_what_engines_say_is_explained(programs: Make, output: str, what: str, fix: str) -> None:
    with pytest.raises(EngineError) as caught:
        engine.find(programs("docker", f"warning: other\n{output}", status=1))
    assert caught.value.what == what
    assert caught.value.found == output
    assert caught.value.fix and fix in caught.value.fix


def test_what_nobody_has_foreseen_is_told_in_the_engines_own_words(programs: Make) -> None:
    with pytest.raises(EngineError, match="the moon is in the way") as caught:
        engine.find(programs("docker", "the moon is in the way", status=7))
    assert caught.value.found == "exit status 7"
