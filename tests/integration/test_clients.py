"""Other conda clients and channels: their environments have the settings, and compute."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from integration.checking import checked
from integration.conda_client import Conda
from integration.conftest import Prefix
from integration.programs import called
from integration.published import install, serving
from integration.test_exports import at, export
from integration.tiny import workspace_below
from stacks.channel.build import build_packages
from stacks.channel.candidates import IndexEntry, index_files, read_channel, solve_index
from stacks.channel.candidates import solve as solve_candidates
from stacks.channel.settings_files import RC_FILE
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.make.pip_install import link_or_copy
from stacks.locks.solution import locked_package
from stacks.variants.load import load_variant

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


def verify(python: str | Path, home: Path, activation: str = "") -> str:
    """Return the table of a diagnosis in which all checks pass but those that need a manifest.

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
    skipped = set(re.findall(r"^skip  (\w+)", done.stdout, re.MULTILINE))
    # Chains are timed where a library starts more threads than there are processors.
    assert {"files", "versions"} <= skipped <= {"files", "versions", "chains"}, done.stdout
    verdict = r"this environment on theano-1\.0\.5: (\d+) checks passed, \d skipped; Gemm "
    [passed] = re.findall(verdict, done.stdout)
    assert int(passed) > 20
    return done.stdout


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
    table = verify("python", tmp_path, activation)
    assert re.search(r"blas\.ldflags +-lblas_threads -lopenblas\n", table)
    assert re.search(r"serving library +openblas 0\.3\.", table)
    assert re.search(r"one BLAS +(?!.*libraries).*libblas_threads\.so\.1", table)
    assert checked(place, "accelerator", expect=None)[0].status == "pass"
    conda.succeed("remove", "-y", "--force", "--offline", "-p", place, "theano-settings")
    assert not (place / RC_FILE).exists()
    assert checked(place, "ldflags", expect=None, HOME=str(tmp_path))[0].status == "fail"


# Of the machine that the client runs on: Python 3.11 needs 2.35.
GLIBC = "2.36"
COMPUTING = """
import {module} as framework
x = framework.tensor.vector()
print(framework.__version__, float(framework.function([x], (x * x).sum())([3, 4])))
print(framework.config.cxx)
"""


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
    channel, folder = read_channel(workspace), tmp_path / "channel"
    candidates = solve_candidates(channel, [spec], GLIBC)
    for subdir in ("linux-64", "noarch"):
        (folder / subdir).mkdir(parents=True)
    entries = []
    for name, built in build_packages(workspace, channel, candidates, quiet=True).items():
        candidate = channel.candidates[name]
        package = locked_package(candidate, built.path)
        entries.append(IndexEntry(package, candidate.index, candidate))
        link_or_copy(built.path, folder / entries[-1].path)
    for path, data in index_files(entries).items():
        (folder / path).write_bytes(data)
    records = solve_index(folder, [spec], GLIBC, "the channel", "correct the recipes")
    place = tmp_path / "prefix"
    install(records, place, tmp_path / "packages")
    flags = f"base_compiledir={tmp_path / 'compiled'}"
    env = {f"{name}_FLAGS": flags for name in ("THEANO", "AESARA", "PYTENSOR")}
    env |= {"PATH": f"{place / 'bin'}:{os.defpath}", "HOME": str(tmp_path)}
    code = COMPUTING.format(module=module)
    done = called([place / "bin/python", "-c", code], env=env, cwd=tmp_path)
    *_, computed, compiler = done.stdout.splitlines()
    # Python 2.7 prints a tuple.
    assert computed.strip("()").replace("'", "").replace(",", "") == f"{version} 25.0", done.stderr
    assert compiler.startswith(f"{place / 'bin'}/"), "no compiler"
