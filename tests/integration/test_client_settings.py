"""An environment that another conda client makes from a lock has the settings of a built one."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from integration.conda_client import Conda
from integration.conftest import MakePrefix
from integration.test_exports import at, export
from integration.test_serve import install, serving, solve
from integration.workspaces import workspace_below
from stacks.channel.settings_files import RC_FILE
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
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
    done = subprocess.run(
        ["sh", "-ec", f"{activation}\n{command}"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "COLUMNS": "400"},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
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
    workspace: Workspace, prefix: MakePrefix, conda: Conda, tmp_path: Path
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
    workspace: Workspace, prefix: MakePrefix, tmp_path: Path
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
