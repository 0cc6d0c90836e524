"""docker/Dockerfile for openblas on Theano 1.0.5, built by BuildKit alone."""

from __future__ import annotations

import hashlib
import shutil
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from integration.buildkit import BuildKit, buildkit
from integration.tiny import flip
from stacks.core.disk import sha256_of
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.image import base, builder, layout, packing
from stacks.sources.mirrors import CHANNEL
from stacks.variants.load import load_variant

KINDS = {
    tarfile.DIRTYPE: "folder",
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.SYMTYPE: "link",
}


@dataclass(frozen=True)
class Entry:
    """What is at a path of an image; `content` is a file's SHA-256 or a link's target."""

    kind: str
    mode: int
    owner: str
    time: int
    content: str


def read_entries(stream: IO[bytes]) -> Iterator[tuple[str, Entry]]:
    """Yield the path and entry of each member of a tar archive: a layer, or an engine's export."""
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
            yield member.name.removeprefix("./").rstrip("/"), _entry(member, content)


def _entry(member: tarfile.TarInfo, content: str) -> Entry:
    return Entry(
        KINDS.get(member.type, f"of type {member.type!r}"),
        stat.S_IMODE(member.mode),
        f"{member.uid}:{member.gid}",
        # Engines add files of their own to folders of the image, which changes these.
        0 if member.isdir() else int(member.mtime),
        content,
    )


NAME = "theano-openblas:alone"
# What an engine itself puts into each container.
ENGINES = {
    ".dockerenv", "dev/console", "dev/pts", "dev/shm", "etc/hostname", "etc/hosts", "etc/mtab",
    "etc/resolv.conf",
}  # fmt: skip
Build = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def engine() -> Iterator[BuildKit]:
    with buildkit() as engine:
        yield engine


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
    words += ["--network=host", "--file", str(workspace.docker / "Dockerfile")]

    def build(*options: str) -> subprocess.CompletedProcess[str]:
        return engine.call(*words, *options, workspace.envs)

    return build


@pytest.fixture
def copy(context: Path, tmp_path: Path) -> Path:
    """Give a copy of the context, of hard links: a file is to be replaced, not written."""
    shutil.copytree(context, tmp_path / "copy", copy_function=lambda a, b: Path(b).hardlink_to(a))
    return tmp_path / "copy"


def package_of(folder: Path) -> Path:
    [path] = folder.glob("noarch/six-*.conda")
    return path


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
            packing.write(folder, archive)
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


def test_another_list_of_digests_than_the_fixed_one_is_refused(build: Build, context: Path) -> None:
    options = ("--build-context", f"channel={context}", "--target", "unpacked")
    digest = sha256_of(context / "image/image.sha256")
    assert build("--build-arg", f"DIGEST={digest}", *options).returncode == 0
    done = build("--build-arg", f"DIGEST={digest[::-1]}", *options)
    assert done.returncode != 0
    assert "image.sha256 is not the one of DIGEST" in done.stderr


def test_without_a_folder_the_argument_is_named(build: Build) -> None:
    done = build()
    assert done.returncode != 0
    assert "channel-is-not-set.invalid" in done.stderr
