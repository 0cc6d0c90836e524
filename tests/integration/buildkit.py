"""Debian 13's container engine in a root of its own: its BuildKit can build the Dockerfiles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from integration.bare_machine import packed_root
from integration.engines import answers
from integration.programs import called

PACKAGES = "docker.io,docker-cli,docker-buildx,ca-certificates,iproute2"
PLUGIN = "usr/libexec/docker/cli-plugins/docker-buildx"
PORT = 8080
PATIENCE = 60


@dataclass(frozen=True)
class BuildKit:
    """An engine that listens at DOCKER_HOST in `environment`, in the network of the process."""

    environment: dict[str, str]
    process: int

    def call(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command of the docker program."""
        return called(["docker", *arguments], env=self.environment, stdin=subprocess.DEVNULL)

    @contextmanager
    def serving(self, folder: Path) -> Iterator[str]:
        """Serve a folder to the engine, and to nobody else; give its address."""
        enter = ["nsenter", f"--net=/proc/{self.process}/ns/net"]
        words = ["-u", "-m", "http.server", str(PORT), "--bind", "127.0.0.1", "--directory"]
        server = subprocess.Popen(
            [*enter, sys.executable, *words, folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout and server.stdout.readline().startswith("Serving HTTP")
            yield f"http://127.0.0.1:{PORT}"
        finally:
            server.kill()
            server.communicate()


@contextmanager
def buildkit() -> Iterator[BuildKit]:
    """Give the engine; skip, saying why, where there can be none."""
    missing = [name for name in ("docker", "unshare", "nsenter") if not shutil.which(name)]
    if missing:
        pytest.skip(f"no BuildKit to test with: {', '.join(missing)} is not installed")
    packed = packed_root("trixie", PACKAGES)
    # Not pytest's own folder: a socket's path has room for 107 letters.
    folder = Path(tempfile.mkdtemp(prefix="theano-stacks-", dir="/var/tmp"))
    try:
        root = folder / "root"
        root.mkdir()
        subprocess.run(["tar", "-C", root, "-xf", packed], check=True)
        plugins = folder / "config" / "cli-plugins"
        plugins.mkdir(parents=True)
        (plugins / "docker-buildx").symlink_to(root / PLUGIN)
        with _daemon(root, folder / "log") as (host, process):
            variables = {"DOCKER_HOST": host, "DOCKER_CONFIG": str(folder / "config")}
            yield BuildKit({**os.environ, **variables}, process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _daemon(root: Path, log: Path) -> Iterator[tuple[str, int]]:
    """Run the root's own dockerd; its mounts and its network end with it."""
    mounts = [f"mount --rbind /{name} {root}/{name}" for name in ("proc", "sys", "dev")]
    dockerd = ["dockerd", "--bridge=none", "--iptables=false", "--ip6tables=false"]
    steps: Sequence[str] = (
        f"mount --bind {root} {root}",
        # Paths lead into what is mounted from here on.
        f"cd {root}",
        *mounts,
        "chroot . ip link set lo up",
        f"exec chroot . {' '.join(dockerd)} -H unix:///run/docker.sock",
    )
    with log.open("w") as output:
        daemon = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", " && ".join(steps)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    host = f"unix://{root}/run/docker.sock"
    try:
        if not answers(host, daemon):
            pytest.skip(f"no BuildKit to test with: {log.read_text().strip().splitlines()[-1:]}")
        yield host, daemon.pid
    finally:
        if daemon.poll() is None:
            daemon.terminate()
            daemon.wait(PATIENCE)
