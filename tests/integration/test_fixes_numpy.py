"""A NumPy that calls a slow library, and its fix as the suite prints it: then the fault is gone."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from integration.applied_fix import applied
from integration.bare_machine import PROXIES, give_network, packed_root
from integration.checking import compiled
from stacks.core.workspace import Workspace
from stacks.environments.verify import SUITE
from stacks.locks import uv
from stacks.publish import verify_app
from stacks.sources.mirrors import pip_settings
from stacks.sources.pins import read_pins

Prefix = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def slow_numpy(prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a virtual environment whose NumPy has a library that nobody knows, and no pip."""
    base = prefix("pytensor-3.3.7", "pip-default")
    place = tmp_path_factory.mktemp("numpy") / "venv"
    subprocess.run([base / "bin/python", "-m", "venv", "--without-pip", place], check=True)
    [site], [theirs] = (folder.glob("lib/python*/site-packages") for folder in (place, base))
    for path in theirs.glob("numpy*"):
        shutil.copytree(path, site / path.name)
    names = set()
    for path in (site / "numpy").rglob("*.so"):
        names |= set(re.findall(rb"\0(scipy_\w+)(?=\0)", path.read_bytes()))
    # When NumPy is imported, it multiplies [1, 1] by itself.
    functions = [f"float {name}() {{ return 2; }}" for name in sorted(map(bytes.decode, names))]
    [library] = site.glob("numpy.libs/libscipy_openblas*.so")
    library.unlink()
    folder = tmp_path_factory.mktemp("library")
    source = f'extern "C" {{ {" ".join(functions)} }}'
    shutil.copy(compiled(base, folder, library.name, source), library)
    return place


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
    words: list[str | Path] = [place / "bin/python", SUITE, "--json", report]
    done = subprocess.run(
        words, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert report.exists(), done.stderr
    checks: list[dict[str, Any]] = json.loads(report.read_text())["checks"]
    return next(check for check in checks if check["name"] == "serving library")


def test_of_debian_s_numpy_with_the_reference_blas(workspace: Workspace, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    subprocess.run(["tar", "-C", root, "-xf", packed_root()], check=True)
    give_network(root)
    verify_app.write(workspace, root / "srv")
    numpy = "apt-get update && apt-get install --yes --no-install-recommends python3-numpy"
    assert _inside(root, numpy)[0] == 0
    verify = "/usr/bin/python3 /srv/blas-verify.pyz"
    status, output = _inside(root, verify)
    assert status == 1 and "not known as a library with fast kernels" in output, output
    command = output.partition("      fix: install OpenBLAS")[2].splitlines()[1].strip()
    assert command == "apt install libopenblas0"
    # Its reader answers the question.
    status, output = _inside(root, f"yes | {command}")
    assert status == 0, output
    status, output = _inside(root, verify)
    assert status == 0 and "serving library" in output and "openblas 0.3" in output, output


def _inside(root: Path, command: str) -> tuple[int, str]:
    """Run a command as root in a root folder; return its status and output."""
    variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "COLUMNS": "300"}
    variables |= {name: os.environ[name] for name in PROXIES if name in os.environ}
    settings = [f"{name}={value}" for name, value in variables.items()]
    words = ["chroot", str(root), "env", "-i", *settings, "DEBIAN_FRONTEND=noninteractive"]
    inside = shlex.join([*words, "sh", "-c", command])
    script = f"mount -t proc proc {root}/proc && exec {inside}"
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout
