"""Other conda clients and channels: their environments have the settings, and compute."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import rattler
import rattler_build
from rattler.index import index_fs
from rattler.package_cache import PackageCache, PackageCacheLayer

from integration.conda_client import Conda
from integration.conftest import Prefix
from integration.programs import called
from integration.test_exports import at, export
from integration.test_serve import install, serving, serving_folder, solve
from integration.workspaces import workspace_below
from stacks.channel.build import build_packages
from stacks.channel.offers import IndexEntry, index_files, read_channel
from stacks.channel.settings_files import RC_FILE
from stacks.channel.solve import solve as solve_offers
from stacks.channel.solve import solve_index
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.make import settings
from stacks.environments.programs import environment
from stacks.environments.use.serve import maker, write_channel
from stacks.locks import lock, update
from stacks.locks.lock import with_other_channels
from stacks.locks.publication import entries_of
from stacks.locks.solution import locked_package
from stacks.locks.update import digests_of
from stacks.variants.load import load_variant

OPERATIONS = ("Gemm", "Gemv", "Ger", "Dot22", "Dot22Scalar", "BatchedDot")
DRIVER = Path(__file__).with_name("verify_driver.py")
# The checks of a diagnosis, in the order of its table; skipped are those that need a manifest.
CHECKS = [
    "settings", "compile folder", "blas.ldflags", "serving library", "one BLAS",
    *(f"{name} in C" for name in OPERATIONS), *(f"{name} numbers" for name in OPERATIONS),
    "scan in C", "vector registers", "threads", "kernels",
    "Gemm float64 speed", "Gemm float32 speed",
]  # fmt: skip
# What Theano is set to, and what a start of Python sets.
ASK = """
import json, os
before = dict(os.environ)
import theano
flags = ["blas.ldflags", "cxx", "device", "floatX", "base_compiledir", "gcc.cxxflags"]
values = [str(eval("theano.config." + name)) for name in flags]
print(json.dumps([values, before]))
"""


def answers(place: Path, home: Path) -> str:
    """Return Theano's flags and the variables of a program, without the environment's path."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "OMP_NUM_THREADS": ""}
    words: list[str | Path] = [place / "bin/python", "-c", ASK]
    found = json.loads(subprocess.check_output(words, env=env, text=True))
    # The cache's folder of modules that environments share is the builder's.
    found[1].pop("THEANO_STACKS_MODULES", None)
    return json.dumps(found, sort_keys=True, ensure_ascii=False).replace(str(place), "")


def verify(python: str | Path, home: Path, activation: str = "") -> dict[str, str]:
    """Return what the table of a verification that passes says of each check.

    activation: commands for the shell that runs it.
    """
    command = shlex.join([f"{REPOSITORY}/invoke", "verify", "--python", str(python)])
    done = called(
        ["sh", "-ec", f"{activation}\n{command}"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "COLUMNS": "400"},
        cwd=home,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    table, _, timings = done.stdout.partition("\n\n")[2].partition("\n\n")
    rows = {line[6:].split("  ")[0]: line for line in table.splitlines()}
    assert [name for name in rows if rows[name].startswith("pass  ")] == CHECKS, done.stdout
    assert [name for name in rows if rows[name].startswith("skip  ")] == ["files", "versions"]
    last = timings.splitlines()[-1]
    passed = f"this environment on theano-1.0.5: {len(CHECKS)} checks passed, 2 skipped; Gemm "
    assert last.startswith(passed)
    return {name: line.rpartition("  ")[2] for name, line in rows.items()}


def failures(place: Path, home: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the checks of a diagnosis that do not pass, with what they found."""
    words: list[str | Path] = [place / "bin/python", DRIVER, REPOSITORY / "verify", "-", *names]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    results = json.loads(subprocess.check_output(words, env=env, text=True, timeout=600))
    assert len(results) == len(names)
    return {name: detail for name, status, detail, *_ in results if status != "pass"}


def test_conda_gives_the_settings_by_a_package(
    workspace: Workspace, prefix: Prefix, conda: Conda, tmp_path: Path
) -> None:
    variant, place = load_variant(workspace, "openblas"), tmp_path / "an environment, é"
    own = workspace_below(tmp_path / "checkout", workspace.cache)
    with serving(own, [variant]) as address:
        path = at(address, export(workspace, variant, "environment", tmp_path))
        conda.succeed("env", "create", "-f", path, "-p", place)
    assert f"base_compiledir = {place}/var/compiledir\n" in (place / RC_FILE).read_text()
    assert answers(place, tmp_path) == answers(prefix("theano-1.0.5", "openblas"), tmp_path)
    activation = conda.succeed("shell.posix", "activate", place)
    found = verify("python", tmp_path, activation)
    assert found["blas.ldflags"] == "-lblas_threads -lopenblas"
    assert found["serving library"].startswith("openblas 0.3.")
    assert "libblas_threads.so.1" in found["one BLAS"] and "libraries" not in found["one BLAS"]
    assert failures(place, tmp_path, ["accelerator"]) == {}
    conda.succeed("remove", "-y", "--force", "--offline", "-p", place, "theano-settings")
    assert not (place / RC_FILE).exists()
    assert list(failures(place, tmp_path, ["ldflags"])) == ["blas.ldflags"]


def test_rattler_gives_the_settings_by_a_package(
    workspace: Workspace, prefix: Prefix, tmp_path: Path
) -> None:
    # BLIS, by itself, takes one thread and, on some processors, slow kernels.
    variant, place = load_variant(workspace, "blis"), tmp_path / "environment"
    own = workspace_below(tmp_path / "checkout", workspace.cache)
    with serving(own, [variant]) as address:
        file = workspace.locks / variant.id / "environment.yml"
        install(solve(address, file, tmp_path / "client"), place, tmp_path / "packages")
    assert "BLIS_NUM_THREADS" in answers(place, tmp_path)
    assert answers(place, tmp_path) == answers(prefix("theano-1.0.5", "blis"), tmp_path)
    found = verify(place / "bin/python", tmp_path)
    assert found["serving library"].startswith("blis 0.9.0 ")
    assert failures(place, tmp_path, ["accelerator"]) == {}


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
        workspace, channel, solve_offers(channel, [spec], GLIBC), quiet=True
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
    result = called(
        [prefix / "bin/python", "-c", code],
        env={"PATH": f"{prefix / 'bin'}:{os.defpath}", "THEANO_FLAGS": flags, "AESARA_FLAGS": flags}
        | {"PYTENSOR_FLAGS": flags, "HOME": str(tmp_path)},
        cwd=tmp_path,
    )
    assert result.stdout.splitlines()[-3:-1] == [version, "25.0"], result.stderr
    assert result.stdout.splitlines()[-1].startswith(f"{prefix / 'bin'}/"), "no compiler"


OF_OTHER = (
    "versions",
    "settings",
    "ldflags",
    "library",
    "one BLAS",
    "Gemm",
    "Dot22 numbers",
    "scan",
)


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
        update.relock_from(own, [ours], address)
        [theirs] = with_other_channels(own, [ours])[1:]
        monkeypatch.setenv("DEBIAN_MIRROR", "http://127.0.0.1:9/debian")
        pipeline.make_environment(own, theirs, place)
    locked = lock.current(own, theirs)
    assert locked.channel == address
    assert "openblas" in {p.name for p in locked.packages}
    words: list[str | Path] = [
        DRIVER,
        REPOSITORY / "verify",
        place / settings.EXPECTATION,
        *OF_OTHER,
    ]
    done = subprocess.run(
        [place / "bin/python", *words],
        env=environment(place),
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    results = json.loads(done.stdout)
    assert [(name, status) for name, status, *_ in results if status != "pass"] == []
    assert len(results) == len(OF_OTHER)
    assert pipeline.make_environment(own, theirs, place) == place, "ready, the channel gone"
