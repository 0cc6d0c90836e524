"""A flavour made of another channel: conda-forge's names, over HTTP, and a real environment."""

from __future__ import annotations

import asyncio
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import rattler_build
from rattler.index import index_fs

from integration.test_serve import publish, serving
from stacks.channel.offers import read_channel
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments import build as pipeline
from stacks.environments import settings
from stacks.environments.verify import environment
from stacks.locks import lock, other_channel
from stacks.variants.variant import load_variant

DRIVER = Path(__file__).with_name("verify_driver.py")
CHECKS = ("versions", "settings", "ldflags", "library", "one BLAS", "Gemm", "Dot22 numbers", "scan")


def add_openblas(channel: Path, room: Path) -> None:
    """Add what conda-forge calls the package with the link libopenblas.so: `openblas`."""
    script = room / "files/etc/conda/activate.d/openblas.sh"
    script.parent.mkdir(parents=True)
    script.write_text("export OPENBLAS=1\n")
    rattler_build.assemble_package(
        "openblas",
        "0.3.34",
        "linux-64",
        "pthreads_h1_0",
        channel / "linux-64",
        files=rattler_build.collect_files(room / "files"),
        depends=["libopenblas 0.3.34"],
    )
    asyncio.run(index_fs(channel))


def test_a_real_environment_of_another_channel_passes(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = load_variant(workspace, "openblas")
    publish([ours], workspace.locks, tmp_path / "channel")
    add_openblas(tmp_path / "channel", tmp_path)
    locks, place = tmp_path / "locks", tmp_path / "prefix"
    with serving(tmp_path / "channel") as address:
        other_channel.relock(replace(workspace, root=locks.parent.parent), [ours], address)
        [theirs] = lock.with_other_channels(replace(workspace, root=locks.parent.parent), [ours])[
            1:
        ]
        monkeypatch.setenv("DEBIAN_MIRROR", "http://127.0.0.1:9/debian")
        pipeline.make_environment(replace(workspace, root=locks.parent.parent), theirs, place)
    found = lock.check(replace(workspace, root=locks.parent.parent), theirs, read_channel())
    assert found.channel == address
    assert "openblas" in {p.name for p in found.packages}
    words: list[str | Path] = [DRIVER, REPOSITORY / "verify", place / settings.EXPECTATION, *CHECKS]
    done = subprocess.run(
        [place / "bin/python", *words],
        env=environment(place),
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    results = json.loads(done.stdout)
    assert [(name, status) for name, status, *_ in results if status != "pass"] == []
    assert len(results) == len(CHECKS)
    assert (
        pipeline.make_environment(replace(workspace, root=locks.parent.parent), theirs, place)
        == place
    ), "ready, the channel gone"
