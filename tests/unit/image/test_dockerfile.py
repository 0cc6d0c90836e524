"""docker/Dockerfile agrees with the locks and with what `./invoke build --to docker` makes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from string import Template

import pytest

from stacks.core.reproducible import EPOCH
from stacks.core.workspace import Workspace
from stacks.image import builder
from stacks.image.config import config_of
from stacks.locks import lock
from stacks.sources.vendored import vendored_path
from stacks.variants.load import all_variants, load_variant


@pytest.fixture
def text(workspace: Workspace) -> str:
    return (workspace.docker / "Dockerfile").read_text()


def test_a_build_from_a_web_server_runs_no_program_that_the_server_chose(
    workspace: Workspace, text: str
) -> None:
    [added] = re.findall(r"ADD (.*) \\\n    \$\{CHANNEL\}/image/busybox /image/\n", text)
    digest = builder.read_builder_file(workspace).sha256
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
    variant = load_variant(workspace, flavour, "theano-1.0.5")
    locked = lock.read(workspace, variant)
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
        ("mkl", 0, True),
        ("mkl", 1, False),
        ("mkl", 3, False),
        ("gpuarray-cuda", 3, True),
        ("gpuarray-cuda", 1, False),
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
