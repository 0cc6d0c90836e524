"""A container engine for the tests: the one that runs, else one of their own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from integration.small_image import NAMES
from stacks.image import engine as engine_door
from stacks.image.engine import Engine, EngineError

# What the tests start: in a network of its own, so that it meets neither another engine nor the
# machine's firewall; its mounts end with it.
DAEMON = ("unshare", "--net", "--mount", "dockerd", "--bridge=none", "--iptables=false")
PATIENCE = 60


@dataclass(frozen=True)
class Running:
    """Where an engine listens (DOCKER_HOST), and where it keeps its files if the tests own it."""

    host: str
    root: Path | None


@contextmanager
def running() -> Iterator[Running]:
    """Give an engine; skip, saying why, where there can be none."""
    try:
        engine_door.find().client.close()
    except EngineError:
        pass
    else:
        yield Running(os.environ.get("DOCKER_HOST", ""), None)
        return
    if not shutil.which("dockerd"):
        pytest.skip("no engine to test with: none runs, and dockerd is not installed")
    if os.geteuid() != 0:
        pytest.skip("no engine to test with: none runs, and only root may start one")
    # Not pytest's own folder: a socket's path has room for 107 letters.
    root = Path(tempfile.mkdtemp(prefix="theano-stacks-", dir="/var/tmp"))
    try:
        with _daemon(root) as host:
            yield Running(host, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def _daemon(root: Path) -> Iterator[str]:
    host = f"unix://{root}/docker.sock"
    places = {"data-root": "root", "exec-root": "exec", "pidfile": "pid"}
    with (root / "log").open("w") as log:
        daemon = subprocess.Popen(
            [*DAEMON, *(f"--{name}={root / place}" for name, place in places.items()), "-H", host],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        if not answers(host, daemon):
            log_lines = (root / "log").read_text().strip().splitlines()[-1:]
            pytest.skip(f"no engine to test with: dockerd does not start here: {log_lines}")
        yield host
    finally:
        if daemon.poll() is None:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(PATIENCE)


def answers(host: str, daemon: subprocess.Popen[bytes]) -> bool:
    while daemon.poll() is None:
        try:
            engine_door.find({"DOCKER_HOST": host}).client.close()
        except EngineError:
            continue
        return True
    return False


@dataclass(frozen=True)
class State:
    """What an engine has."""

    images: frozenset[str]
    containers: frozenset[str]
    names: tuple[str | None, ...]


def state(engine: Engine) -> State:
    images = engine.client.images.list(all=True)
    containers = engine.client.containers.list(all=True)
    return State(
        frozenset(image.id for image in images),
        frozenset(container.id for container in containers),
        tuple(engine.image_id(name) for name in NAMES),
    )


def import_root(engine: Engine, archive: Path, name: str) -> str:
    """Make an image of one layer, a tar archive, and return its id."""
    repository, tag = name.split(":")
    engine.client.api.import_image_from_file(str(archive), repository=repository, tag=tag)
    image = engine.image_id(name)
    assert image
    return image


def inspect(engine: Engine, name: str) -> dict[str, Any]:
    details: dict[str, Any] = engine.client.images.get(name).attrs
    return details
