"""docker/Dockerfile for openblas on Theano 1.0.5, built by BuildKit alone.

The engine is Debian 13's, in a root of its own.
"""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from integration.bare_machine import packed_root
from integration.engines import daemon, short_folder
from integration.programs import called
from integration.tiny import flip
from stacks.core.disk import sha256_of
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.image import base, builder, files, layout
from stacks.sources.mirrors import CHANNEL
from stacks.variants.load import load_variant

PACKAGES = "docker.io,docker-cli,docker-buildx,ca-certificates,iproute2"
PLUGIN = "usr/libexec/docker/cli-plugins/docker-buildx"
PORT = 8080
NAME = "theano-openblas:alone"
# What an engine itself puts into each container.
ENGINES = {
    ".dockerenv", "dev/console", "dev/pts", "dev/shm", "etc/hostname", "etc/hosts", "etc/mtab",
    "etc/resolv.conf",
}  # fmt: skip
Build = Callable[..., subprocess.CompletedProcess[str]]


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


@pytest.fixture(scope="module")
def engine() -> Iterator[BuildKit]:
    """Give the engine; skip, saying why, where there can be none."""
    missing = [name for name in ("docker", "unshare", "nsenter") if not shutil.which(name)]
    if missing:
        pytest.skip(f"no BuildKit to test with: {', '.join(missing)} is not installed")
    packed = packed_root("trixie", PACKAGES)
    with short_folder() as folder:
        root, plugins = folder / "root", folder / "config" / "cli-plugins"
        root.mkdir()
        subprocess.run(["tar", "-C", root, "-xf", packed], check=True)
        plugins.mkdir(parents=True)
        (plugins / "docker-buildx").symlink_to(root / PLUGIN)
        steps = (
            f"mount --bind {root} {root}",
            # Paths lead into what is mounted from here on.
            f"cd {root}",
            *(f"mount --rbind /{name} {root}/{name}" for name in ("proc", "sys", "dev")),
            "chroot . ip link set lo up",
            "exec chroot . dockerd --bridge=none --iptables=false --ip6tables=false"
            " -H unix:///run/docker.sock",
        )
        host = f"unix://{root}/run/docker.sock"
        # Its mounts and its network end with it.
        command = ["unshare", "--net", "--mount", "sh", "-c", " && ".join(steps)]
        with daemon(command, host, folder / "log") as process:
            variables = {"DOCKER_HOST": host, "DOCKER_CONFIG": str(folder / "config")}
            yield BuildKit({**os.environ, **variables}, process)


@pytest.fixture(scope="module")
def context(
    engine: BuildKit, workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Give the channel of a vendored folder, with what Dockerfiles build with."""
    folder = tmp_path_factory.mktemp("context") / "carried"
    vendor.vendor(workspace, [load_variant(workspace, "openblas")], folder, images=True)
    yield folder / CHANNEL
    shutil.rmtree(folder)


@pytest.fixture
def build(engine: BuildKit, workspace: Workspace) -> Build:
    """Give the function that builds the Dockerfile under options of buildx."""
    words = ["buildx", "build", "--progress=plain", "--build-arg", "VARIANT=openblas"]
    # The engine has no bridge; its own network has the tests' server and nothing else.
    words += ["--network=host", "--file", str(workspace.root / "docker/Dockerfile")]
    return lambda *options: engine.call(*words, *options, workspace.envs)


@pytest.fixture
def copy(context: Path, tmp_path: Path) -> Path:
    """Give a copy of the context, of hard links: a file is to be replaced, not written."""
    shutil.copytree(context, tmp_path / "copy", copy_function=lambda a, b: Path(b).hardlink_to(a))
    return tmp_path / "copy"


def package_of(folder: Path) -> Path:
    [path] = folder.glob("noarch/six-*.conda")
    return path


def read_entries(stream: IO[bytes]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield the path and what there is of each member of a layer, or of an engine's export.

    A file's content is its SHA-256, a link's its target.
    """
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            content = member.linkname
            if member.isreg():
                data = archive.extractfile(member)
                assert data
                digest = hashlib.sha256()
                while block := data.read(1 << 20):
                    digest.update(block)
                content = digest.hexdigest()
            kind = b"0" if member.isreg() else member.type
            # Engines add files of their own to folders of the image, which changes these times.
            time = 0 if member.isdir() else int(member.mtime)
            entry = (kind, stat.S_IMODE(member.mode), member.uid, member.gid, time, content)
            yield member.name.removeprefix("./").rstrip("/"), entry


def test_the_image_is_verified_and_has_the_files_of_the_tools_image(
    build: Build, engine: BuildKit, context: Path, workspace: Workspace
) -> None:
    done = build("--build-context", f"channel={context}", "--tag", NAME)
    assert done.returncode == 0, done.stderr[-5000:]
    assert "checks passed" in done.stderr
    # What `build --to docker` compares its own image with, file by file: the base and the layers.
    with base.tar(workspace).open("rb") as file:
        expected = dict(read_entries(file))
    layers = layout.lay_out(workspace, load_variant(workspace, "openblas"))
    for folder in layers.folders.values():
        with tempfile.TemporaryFile() as archive:
            files.write(folder, archive)
            archive.seek(0)
            expected |= read_entries(archive)
    container = engine.call("create", NAME).stdout.strip()
    with subprocess.Popen(
        ["docker", "export", container], env=engine.environment, stdout=subprocess.PIPE
    ) as export:
        assert export.stdout
        found = dict(read_entries(export.stdout))
    assert found.keys() - expected.keys() == ENGINES
    assert {name: found.get(name) for name in expected} == expected


def test_a_web_server_is_as_good_as_a_folder(
    build: Build, engine: BuildKit, context: Path, copy: Path, tmp_path: Path
) -> None:
    options = ("--target", "locked", "--output", f"type=local,dest={tmp_path / 'got'}")
    flip(package_of(copy))
    with engine.serving(copy) as address:
        done = build("--build-arg", f"CHANNEL={address}", *options)
    assert done.returncode != 0
    assert f"{package_of(copy).name}: FAILED" in done.stderr
    with engine.serving(context) as address:
        done = build("--build-arg", f"CHANNEL={address}", *options)
    assert done.returncode == 0, done.stderr[-5000:]
    for path in (package_of(context), context / builder.FOLDER / builder.BASE):
        got = tmp_path / "got/context/channel" / path.relative_to(context)
        assert sha256_of(got) == sha256_of(path)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: package_of(folder).unlink(), "{package}: No such file or directory"),
        (lambda folder: flip(package_of(folder)), "{package}: FAILED"),
        (lambda folder: flip(folder / "image/base"), "base: FAILED"),
        (lambda folder: (folder / "image/image.sha256").unlink(), "has no image/image.sha256"),
        (lambda folder: shutil.rmtree(folder / "image"), "/channel/image/busybox"),
    ],
    ids=["missing", "changed", "changed-base", "no-list", "without-images"],
)
def test_what_the_context_lacks_is_named_and_nothing_is_tagged(
    build: Build, engine: BuildKit, copy: Path, harm: Callable[[Path], None], message: str
) -> None:
    package = str(package_of(copy).relative_to(copy))
    before = engine.call("images", "--all", "--no-trunc", "--quiet").stdout
    harm(copy)
    done = build("--build-context", f"channel={copy}", "--tag", "theano-openblas:harmed")
    assert done.returncode != 0
    assert message.format(package=package) in done.stderr
    assert "--images" in done.stderr
    assert engine.call("images", "--all", "--no-trunc", "--quiet").stdout == before


def test_another_list_of_digests_and_no_channel_are_refused(build: Build, context: Path) -> None:
    options = ("--build-context", f"channel={context}", "--target", "unpacked")
    digest = sha256_of(context / "image/image.sha256")
    assert build("--build-arg", f"DIGEST={digest}", *options).returncode == 0
    done = build("--build-arg", f"DIGEST={digest[::-1]}", *options)
    assert done.returncode != 0
    assert "image.sha256 is not the one of DIGEST" in done.stderr
    done = build()
    assert done.returncode != 0
    assert "channel-is-not-set.invalid" in done.stderr
