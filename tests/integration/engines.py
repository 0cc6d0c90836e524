"""A container engine for the tests, and an image that is made in a second.

The image has a file, and an entry program in place of the suite.
engines.py ROOT PLAY    builds it in a process of its own
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from unit.helpers.environments import add

from integration.programs import opened
from integration.tiny import workspace_below
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.paths import cache_root
from stacks.core.workspace import Workspace
from stacks.image import engine as engine_door
from stacks.image import layout
from stacks.image.engine import Engine, EngineError
from stacks.image.layout import Layers
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

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
    """Give the engine that runs, else one of the tests; skip, saying why, where none may start."""
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
    with short_folder() as root:
        host = f"unix://{root}/docker.sock"
        places = {"data-root": "root", "exec-root": "exec", "pidfile": "pid"}
        options = [f"--{name}={root / place}" for name, place in places.items()]
        with daemon([*DAEMON, *options, "-H", host], host, root / "log"):
            yield Running(host, root)


@contextmanager
def short_folder() -> Iterator[Path]:
    """Give a folder for sockets, whose paths have room for 107 letters: pytest's own are longer."""
    root = Path(tempfile.mkdtemp(prefix="theano-stacks-", dir="/var/tmp"))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def daemon(command: list[str], host: str, log: Path) -> Iterator[int]:
    """Run a command that starts an engine until the block ends; give its process."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        if not _answers(host, process):
            pytest.fail(f"dockerd does not start:\n{log.read_text()}", pytrace=False)
        yield process.pid
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def _answers(host: str, process: subprocess.Popen[bytes]) -> bool:
    while process.poll() is None:
        try:
            engine_door.find({"DOCKER_HOST": host}).client.close()
        except EngineError:
            continue
        return True
    return False


NAME = "theano-small-test"
NAMES = (f"{NAME}:1.0.5", f"{NAME}:latest")
Build = Callable[..., None]
# verify --json
ENTRY = """\
#!/bin/sh
echo '{report}'
echo verifying >&2
{play}
"""
PASSES = "exit 0"
REPORT = json.dumps({"ok": True, "checks": [{"status": "pass"}]})
WAITS = "until [ -e /tmp/go ]; do sleep 0.1; done"


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


def import_root(engine: Engine, archive: Path, name: str) -> None:
    """Make an image of one layer, a tar archive, with the PATH that Debian's images have."""
    repository, tag = name.split(":")
    changes = ["ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    engine.client.api.import_image_from_file(
        str(archive), repository=repository, tag=tag, changes=changes
    )
    assert engine.image_id(name)


def small_variant(workspace: Workspace) -> Variant:
    """Return a variant whose image has a name that no real one has."""
    return load_variant(workspace, "openblas").model_copy(update={"name": "small-test"})


def write_small(root: Path, play: str) -> Layers:
    """Write the content of the image, where it is not there yet."""
    if made := layout.read(root):
        return made
    folders = {name: root / name for name in layout.NAMES}
    for name, folder in folders.items():
        add(folder, f"opt/theano/share/{name}", f"{name}\n" * 1000)
    (folders["packages"] / "opt/theano/share/link").symlink_to("packages")
    settings = folders["settings"]
    text = ENTRY.format(play=play, report=REPORT)
    add(settings, "usr/local/bin/theano-stacks", text, 0o755)
    add(settings, layout.SBOM[1:], "{}")
    for place, mode in (("tmp", 0o1777), ("work", 0o775)):
        (settings / place).mkdir()
        (settings / place).chmod(mode)
    return layout.record(root, play)


@contextmanager
def building(root: Path, play: str) -> Iterator[subprocess.Popen[str]]:
    """Build the image in a process of its own."""
    env = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests'}"}
    with opened([sys.executable, __file__, root, play], env=env) as process:
        yield process


def prints(process: subprocess.Popen[str], line: str) -> bool:
    """Read a process's standard error up to a line that begins so; return whether it came."""
    assert process.stderr
    return any(text.startswith(line) for text in process.stderr)


def main(root: str, play: str) -> int:
    """Build the image; return the exit status of a task."""
    workspace = workspace_below(Path(root) / "checkout", cache_root())
    patch = setattr
    made = write_small(Path(root) / "content", play)
    patch(layout, "lay_out", lambda *_: made)
    try:
        engine_door.build(workspace, small_variant(workspace))
    except StacksError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
