"""What another conda client gets from the channel for a framework's name, without a lock."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import rattler
from rattler.package_cache import PackageCache, PackageCacheLayer

from stacks.channel.build import build_packages
from stacks.channel.index import IndexEntry, index_files
from stacks.channel.offers import read_channel
from stacks.channel.solve import solve, solve_index
from stacks.core.workspace import Workspace
from stacks.locks.solution import locked_package
from stacks.locks.update import digests_of

# Of the machine that the client runs on: Python 3.11 needs 2.35.
GLIBC = "2.36"


@pytest.mark.parametrize(
    ("spec", "module", "version"),
    [
        ("theano", "theano", "1.0.5"),
        ("theano ==0.8.2", "theano", "0.8.2"),
        ("theano-pymc", "theano", "1.1.2"),
        ("aesara", "aesara", "2.8.7"),
        ("pytensor", "pytensor", "3.3.7"),
        ("pytensor <3", "pytensor", "2.38.3"),
    ],
)
def test_the_name_alone_gives_an_environment_that_computes(
    spec: str, module: str, version: str, workspace: Workspace, tmp_path: Path
) -> None:
    channel = read_channel(workspace)
    folder, prefix = tmp_path / "channel", tmp_path / "prefix"
    entries = []
    for name, built in build_packages(
        workspace, channel, solve(channel, [spec], GLIBC), quiet=True
    ).items():
        offer = channel.offers[name]
        package = locked_package(offer, digests_of(built.path))
        entries.append(IndexEntry(package, offer.index, offer))
        target = folder / entries[-1].path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built.path, target)
    for path, data in index_files(entries).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)
    records = solve_index(folder, [spec], GLIBC, "the channel", "correct the recipes")
    layer = PackageCacheLayer(tmp_path / "unpacked")
    packages = PackageCache.from_layers([layer])
    asyncio.run(rattler.install(records, prefix, package_cache=packages, show_progress=False))
    code = (
        f"import {module} as framework\n"
        "x = framework.tensor.vector()\n"
        "print(framework.__version__)\n"
        "print(float(framework.function([x], (x * x).sum())([3, 4])))\n"
        "print(framework.config.cxx)\n"
    )
    flags = f"base_compiledir={tmp_path / 'compiled'}"
    result = subprocess.run(
        [prefix / "bin/python", "-c", code],
        env={"PATH": f"{prefix / 'bin'}:{os.defpath}", "THEANO_FLAGS": flags, "AESARA_FLAGS": flags}
        | {"PYTENSOR_FLAGS": flags, "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.stdout.splitlines()[-3:-1] == [version, "25.0"], result.stderr
    assert result.stdout.splitlines()[-1].startswith(f"{prefix / 'bin'}/"), "no compiler"
