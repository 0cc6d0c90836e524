"""What docker/Dockerfile builds with, and that it agrees with `./invoke build --to docker`."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tarfile
from pathlib import Path
from string import Template

import pytest

from stacks.core.disk import fixed_umask
from stacks.core.errors import IntegrityError
from stacks.core.reproducible import EPOCH
from stacks.core.workspace import Workspace
from stacks.image import base, builder, layout
from stacks.image.metadata import config_of
from stacks.locks import lock
from stacks.sources.mirrors import vendored_path
from stacks.variants.load import all_variants, load_variant
from unit.helpers.archives import deb, member


def test_another_program_than_the_dockerfiles_name_is_refused(tmp_path: Path) -> None:
    folder = (member("./bin", tarfile.DIRTYPE, mode=0o755), b"")
    package = deb(tmp_path / "x_1_amd64.deb", folder, (member("./bin/busybox"), b"#!/bin/sh\n"))
    digest = hashlib.sha256(b"#!/bin/sh\n").hexdigest()
    with pytest.raises(IntegrityError, match=r"x_1_amd64\.deb has another busybox") as caught:
        builder.write_static(package, "0" * 64, tmp_path / "busybox")
    assert (caught.value.expected, caught.value.found) == ("sha256 " + "0" * 64, f"sha256 {digest}")
    builder.write_static(package, digest, tmp_path / "busybox")
    assert (tmp_path / "busybox").stat().st_mode & 0o777 == 0o755


def test_the_code_has_one_mode_whatever_the_checkouts_is(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name, mode in (("a.py", 0o444), ("b.py", 0o755), ("c.py", 0o600), ("d.pyc", 0o644)):
        (source / name).touch(mode)
    with fixed_umask():
        builder.copy_without_modes(source, target)
    found = {path.name: path.stat().st_mode & 0o777 for path in target.iterdir()}
    assert found == dict.fromkeys(["a.py", "b.py", "c.py"], 0o644)


def test_the_first_difference_between_two_images_is_named(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        (folder / "lib").mkdir(parents=True)
        for name in ("lib/a", "lib/b", layout.RECORD):
            (folder / name).write_text("same" if name == "lib/a" else f"it is {folder.name}")
            os.utime(folder / name, (0, 0))
        (folder / "lib/c").symlink_to(folder.name)
        for name in ("lib/c", "lib"):
            os.utime(folder / name, (0, 0), follow_symlinks=False)
    assert re.fullmatch("lib/b: SHA-256 [0-9a-f]+ and SHA-256 .+", builder.difference(one, other))
    (other / "lib/b").write_text("it is one")
    assert builder.difference(one, other).startswith("lib/b: time 0.0 and time ")
    os.utime(other / "lib/b", (0, 0))
    assert builder.difference(one, other) == "lib/c: link to one and link to other"
    (other / "lib/a").chmod(0o700)
    assert builder.difference(one, other) == "lib/a: mode 100644 and mode 100700"
    (one / "lib/a").unlink()
    os.utime(one / "lib", (0, 0))
    assert builder.difference(one, other) == "lib/a: missing and mode 100700"
    assert builder.difference(one, one) == ""


@pytest.fixture
def text(workspace: Workspace) -> str:
    return (workspace.root / "docker/Dockerfile").read_text()


def test_a_build_from_a_web_server_runs_no_program_that_the_server_chose(
    workspace: Workspace, text: str
) -> None:
    [added] = re.findall(r"ADD (.*) \\\n    \$\{CHANNEL\}/image/busybox /image/\n", text)
    digest = base.read_file(workspace).sha256
    assert added == f"--checksum=sha256:{digest} --chmod=755"
    assert f"touch -h -d @{EPOCH} " in text


def test_an_image_starts_as_that_of_the_archive_does(workspace: Workspace, text: str) -> None:
    pairs = dict(re.findall(r' ([\w.]+)="(.*)"', text))
    for variant in all_variants(workspace):
        config = config_of(workspace, variant)
        project, _, version = variant.framework.name.rpartition("-")
        words = {"PROJECT": project, "VERSION": version, "VARIANT": variant.name}
        found = {name: Template(value).substitute(words) for name, value in pairs.items()}
        assert found.items() >= config.environment.items()
        title, release = (f"org.opencontainers.image.{key}" for key in ("title", "version"))
        for label in (title, release, "org.opencontainers.image.created"):
            assert found[label] == config.labels[label]
    assert f"\nUSER {config.user}\nWORKDIR {config.workdir}\n" in text
    assert f'\nENTRYPOINT ["{config.entrypoint[0]}"]\nCMD []\n' in text


@pytest.mark.parametrize("flavour", ["openblas", "pip-openblas"])
def test_each_file_of_the_lock_is_compared_with_its_digest(
    workspace: Workspace, text: str, flavour: str, tmp_path: Path
) -> None:
    [script] = re.findall(r'<<"END" /collect\n(.*?)^END\n', text, re.DOTALL | re.MULTILINE)
    locked = lock.read(workspace, load_variant(workspace, flavour, "theano-1.0.5"))
    (tmp_path / "lock").symlink_to(workspace.locks / "theano-1.0.5" / flavour)
    listing = script[: script.index("mkdir -p")].replace("/lock/", "lock/")
    subprocess.run(["sh", "-c", listing.replace(">/files", ">files")], cwd=tmp_path, check=True)
    expected = [
        f"{package.sha256}  channel/{'/'.join(package.url.rsplit('/', 2)[1:])}"
        for package in locked.packages
    ] + [f"{pin.sha256}  {vendored_path(Path(), pin)}" for pin in locked.requirements]
    assert sorted((tmp_path / "files").read_text().splitlines()) == sorted(expected)
    assert "sha256sum --check --quiet /files" in script


@pytest.mark.parametrize(
    ("variant", "status", "built"),
    [
        *(("mkl", 0, True), ("mkl", 1, False), ("mkl", 3, False)),
        *(("gpuarray-cuda", 3, True), ("gpuarray-cuda", 1, False)),
    ],
)
def test_an_image_is_verified_by_its_last_step_and_only_cuda_may_lack_its_device(
    text: str, variant: str, status: int, built: bool
) -> None:
    last = text.rstrip().rpartition("RUN ")[2]
    assert last.startswith("--network=none --mount=type=tmpfs,target=/tmp \\\n")
    command = last.partition("\n")[2].replace("theano-stacks verify", f"(exit {status})")
    done = subprocess.run(["sh", "-c", command], env={"VARIANT": variant}, check=False)
    assert (done.returncode == 0) is built
