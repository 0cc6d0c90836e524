"""A NumPy that calls a slow library, and its fix as the suite prints it: then the fault is gone."""

import asyncio
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import rattler_build
from rattler.index import index_fs

from integration.bare_machine import run_in_root, unpack_root
from integration.checking import applied, compiled
from integration.conda_client import Conda
from integration.conftest import Prefix
from integration.programs import run
from integration.published import serving
from integration.tiny import workspace_below
from stacks.core.workspace import Workspace
from stacks.distribution import release
from stacks.environments.programs import SUITE
from stacks.locks import uv
from stacks.sources.package_index import pip_settings
from stacks.sources.pins import read_pins
from stacks.variants.load import load_variant


@pytest.fixture(scope="module")
def slow_numpy(prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a virtual environment whose NumPy has a library that nobody knows, and no pip."""
    base = prefix("pytensor-3.3.7", "pip-default")
    place = tmp_path_factory.mktemp("numpy") / "venv"
    subprocess.run([base / "bin/python", "-m", "venv", "--without-pip", place], check=True)
    [site], [theirs] = (folder.glob("lib/python*/site-packages") for folder in (place, base))
    for path in theirs.glob("numpy*"):
        shutil.copytree(path, site / path.name)
    [library] = site.glob("numpy.libs/libscipy_openblas*.so")
    library.unlink()
    folder = tmp_path_factory.mktemp("library")
    source = stand_in(site / "numpy", rb"scipy_\w+")
    shutil.copy(compiled(base, folder, library.name, source), library)
    return place


def stand_in(numpy: Path, pattern: bytes) -> str:
    """Return the source of a library with the functions that NumPy calls, by their names."""
    names = {
        name.decode()
        for path in numpy.rglob("*.so")
        for name in re.findall(rb"\0(" + pattern + rb")(?=\0)", path.read_bytes())
    }
    # When NumPy is imported, it multiplies [1, 1] by itself.
    functions = " ".join(f"float {name}() {{ return 2; }}" for name in sorted(names))
    return f'extern "C" {{ {functions} }}'


@pytest.mark.parametrize("has_pip", [True, False])
def test_of_a_numpy_with_a_slow_library(
    has_pip: bool, slow_numpy: Path, prefix: Prefix, workspace: Workspace, tmp_path: Path
) -> None:
    place = tmp_path / "a venv"
    shutil.copytree(slow_numpy, place, symlinks=True)
    uv.unpack(workspace, read_pins(workspace.sources_lock), tmp_path)
    if has_pip:
        [site] = place.glob("lib/python*/site-packages")
        for path in prefix("pytensor-3.3.7", "pip-default").glob("lib/python*/site-packages/pip*"):
            shutil.copytree(path, site / path.name)
    # Without a compiler there is no peak, and no time for it.
    variables = uv.environment(workspace, pip_settings(), {"PATH": f"{tmp_path}:/none"})
    serving = _of_numpy(place, tmp_path, variables)
    assert serving["status"] == "fail"
    assert ("-m pip install" if has_pip else "uv pip install") in serving["fix"]
    applied(serving["fix"], variables, tmp_path)
    serving = _of_numpy(place, tmp_path, variables)
    assert serving["status"] == "pass" and serving["detail"].startswith("openblas ")


def _of_numpy(place: Path, folder: Path, variables: dict[str, str]) -> dict[str, Any]:
    """Return the check of the library that NumPy calls."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    done = run(place, SUITE, "--json", report, **variables)
    assert report.exists(), done.stderr
    checks: list[dict[str, Any]] = json.loads(report.read_text())["checks"]
    return next(check for check in checks if check["name"] == "serving library")


def test_of_debian_s_numpy_with_the_reference_blas(workspace: Workspace, tmp_path: Path) -> None:
    root = unpack_root(tmp_path)
    release.write_suite(workspace, root / "srv")
    numpy = "apt-get update && apt-get install --yes --no-install-recommends python3-numpy"
    assert run_in_root(root, numpy).returncode == 0
    verify = "/usr/bin/python3 /srv/blas-verify.pyz"
    done = run_in_root(root, verify)
    assert done.returncode == 1, done.stderr
    assert "not known as a library with fast kernels" in done.stdout
    command = done.stdout.partition("      fix: install OpenBLAS")[2].splitlines()[1].strip()
    assert command == "apt install libopenblas0"
    # Its reader answers the question.
    done = run_in_root(root, f"yes | {command}")
    assert done.returncode == 0, done.stderr
    done = run_in_root(root, verify)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "serving library" in done.stdout and "openblas 0.3" in done.stdout


def test_of_conda_s_numpy_with_the_reference_blas(
    workspace: Workspace, prefix: Prefix, conda: Conda, tmp_path: Path
) -> None:
    base, slow, place = prefix("theano-1.0.5", "openblas"), tmp_path / "slow", tmp_path / "place"
    [numpy] = base.glob("lib/python*/site-packages/numpy")
    (tmp_path / "files/lib").mkdir(parents=True)
    source = stand_in(numpy, rb"cblas_\w+|[a-z]\w+[a-z]_")
    compiled(base, tmp_path / "files/lib", "libblas.so.3", source)
    (tmp_path / "files/lib/source.cpp").unlink()
    files = rattler_build.collect_files(tmp_path / "files")
    made = slow / "linux-64"
    rattler_build.assemble_package("libblas", "3.9.0", "linux-64", "0_netlib", made, files=files)
    asyncio.run(index_fs(slow))
    own = workspace_below(tmp_path / "checkout", workspace.cache)
    with serving(own, [load_variant(workspace, "openblas")]) as address:
        # As a person has them in their .condarc, and the environment active.
        variables = {"CONDA_CHANNELS": f"{address},{slow.as_uri()}", "CONDA_ALWAYS_YES": "true"}
        wanted = ("python=3.9", "numpy=1.21.6", "libblas=*=*netlib")
        conda.succeed("create", "-p", place, *wanted, variables=variables)
        check = _of_numpy(place, tmp_path, {"PATH": "/none"})
        assert (check["status"], "reference or unknown" in check["detail"]) == ("fail", True)
        assert check["fix"] == "take OpenBLAS for NumPy:\nconda install 'libblas=*=*openblas'"
        words = shlex.split(check["fix"].splitlines()[1])
        conda.succeed(*words[1:], variables={**variables, "CONDA_PREFIX": str(place)})
    check = _of_numpy(place, tmp_path, {"PATH": "/none"})
    assert check["status"] == "pass" and check["detail"].startswith("openblas 0.3"), check
