"""A flavour made of another channel: conda-forge's names, over HTTP, and a real environment."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
import rattler_build
from rattler.index import index_fs

from integration.test_serve import serving_folder
from integration.workspaces import workspace_below
from stacks.channel.offers import read_channel
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.make import settings
from stacks.environments.use.serve import maker, write_channel
from stacks.environments.variables import environment
from stacks.locks import lock, other_channel
from stacks.locks.lock import with_other_channels
from stacks.locks.locked import entries_of
from stacks.variants.load import load_variant

DRIVER = Path(__file__).with_name("verify_driver.py")
CHECKS = ("versions", "settings", "ldflags", "library", "one BLAS", "Gemm", "Dot22 numbers", "scan")


def add_openblas(channel: Path, room: Path) -> None:
    """Add the package `openblas`, which has the link libopenblas.so on conda-forge."""
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


def test_an_environment_of_another_channel_passes(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = workspace_below(tmp_path / "checkout", workspace.cache, copies=("envs",))
    ours = load_variant(own, "openblas")
    channel = read_channel(own)
    entries = entries_of(own, channel, [ours])
    folder = own.build / "channel"
    write_channel(folder, entries)
    for entry in entries:
        maker(own, folder, channel, entries)(entry.path)
    add_openblas(folder, tmp_path)
    place = tmp_path / "prefix"
    with serving_folder(folder) as address:
        other_channel.relock(own, [ours], address)
        [theirs] = with_other_channels(own, [ours])[1:]
        monkeypatch.setenv("DEBIAN_MIRROR", "http://127.0.0.1:9/debian")
        pipeline.make_environment(own, theirs, place)
    locked = lock.current(own, theirs)
    assert locked.channel == address
    assert "openblas" in {p.name for p in locked.packages}
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
    assert pipeline.make_environment(own, theirs, place) == place, "ready, the channel gone"
