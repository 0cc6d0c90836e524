"""A fault, its fix as the suite prints it, applied word for word: then the fault is gone."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from integration.applied_fix import applied
from integration.bare_machine import PROXIES, give_network, packed_root
from integration.checking import checked, compiled
from stacks.core.workspace import Workspace
from stacks.environments.verify import SUITE
from stacks.locks import uv
from stacks.publish import verify_app
from stacks.sources.mirrors import pip_settings
from stacks.sources.pins import read_pins

Prefix = Callable[[str, str], Path]
BLAS = ("ldflags", "library", "Gemm", "Dot22")
OLD_BLAS = "[blas]\nldflags = -lnothere\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a user's empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return home


def apply_fixes(
    place: Path, checks: Sequence[str], home: Path, expect: str | None, **variables: str
) -> list[str]:
    """Apply the fixes of the checks that fail, after which all must pass; return the fixes."""
    found = checked(place, *checks, expect=expect, HOME=str(home), **variables)
    fixes = list(dict.fromkeys(check.fix for check in found if check.status == "fail"))
    assert fixes, found
    for fix in fixes:
        assert fix
        variables = applied(fix, variables, home)
    found = checked(place, *checks, expect=expect, HOME=str(home), **variables)
    assert [check for check in found if check.status == "fail"] == [], fixes
    return [fix or "" for fix in fixes]


@pytest.mark.parametrize(
    ("theanorc", "flags", "checks"),
    [
        ("", "blas.ldflags=", ("settings", *BLAS)),
        ("", "blas.ldflags=-lopenblas -lnothere", ("settings", "ldflags")),
        (OLD_BLAS, "", ("settings", "ldflags")),
        ("", "cxx=", ("settings", "Gemm", "scan")),
        ("[global]\ncxx =\n", "", ("settings", "Gemm")),
    ],
)
def test_of_a_setting_in_an_environment_of_this_project(
    prefix: Prefix, home: Path, theanorc: str, flags: str, checks: Sequence[str]
) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    (home / ".theanorc").write_text(theanorc)
    apply_fixes(place, checks, home, "own", THEANO_FLAGS=flags)


@pytest.fixture(scope="module")
def linkable(prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a virtual environment with pip's Theano, in which somebody has put OpenBLAS."""
    place = tmp_path_factory.mktemp("linkable") / "venv"
    base = prefix("theano-1.0.5", "pip-default")
    words = ["-m", "venv", "--system-site-packages", "--without-pip"]
    subprocess.run([base / "bin/python", *words, place], check=True)
    for path in prefix("theano-1.0.5", "openblas").glob("lib/libopenblas*.so*"):
        (place / "lib" / path.name).symlink_to(path)
    return place


@pytest.mark.parametrize(
    ("theanorc", "flags", "checks"),
    [
        ("", "", BLAS),
        ("[blas]\n", "", ("ldflags",)),
        (OLD_BLAS, "", ("ldflags",)),
        (OLD_BLAS, "blas.ldflags=", ("ldflags",)),
        ("[global]\nlinker = py\ncxx =\n", "mode=FAST_COMPILE", ("settings",)),
    ],
)
def test_of_a_setting_in_a_virtual_environment(
    linkable: Path, home: Path, theanorc: str, flags: str, checks: Sequence[str]
) -> None:
    (home / ".theanorc").write_text(theanorc)
    apply_fixes(linkable, checks, home, None, THEANO_FLAGS=flags)


def test_of_a_slow_library_that_the_flags_name(prefix: Prefix, linkable: Path, home: Path) -> None:
    source = 'extern "C" { void dgemm_() {} void sgemm_() {} void dgemv_() {} void sgemv_() {} }'
    compiled(prefix("theano-1.0.5", "openblas"), home, "libslow.so", source)
    slow = f"blas.ldflags=-L{home} -lslow -Wl\\,-rpath\\,{home}"
    fixes = apply_fixes(linkable, ("library",), home, None, THEANO_FLAGS=slow)
    assert "lead to it; remove blas.ldflags from THEANO_FLAGS, then put" in fixes[0]


def test_of_a_library_that_is_loaded_before_all_others(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    source = 'extern "C" { void dgemm_() {} void sgemm_() {} }'
    library = compiled(place, home, "libfirst.so", source)
    apply_fixes(place, ("library",), home, "own", LD_PRELOAD=str(library))


def test_of_the_accelerator(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-1.0.5", "openblas")
    apply_fixes(place, ("accelerator",), home, "own", THEANO_STACKS_QUICK="0")


def test_of_a_compiled_module_that_is_cut_off(prefix: Prefix, linkable: Path, home: Path) -> None:
    folder = home / ".theano/compiledir_here/tmp a module"
    folder.mkdir(parents=True)
    whole = compiled(prefix("theano-1.0.5", "openblas"), folder, "m1.so", "int one;")
    os.truncate(whole, whole.stat().st_size - 1)
    other = compiled(prefix("theano-1.0.5", "openblas"), home, "m2.so", "int two;")
    (home / ".theano/compiledir_here/tmp2").mkdir()
    other = other.rename(home / ".theano/compiledir_here/tmp2/m2.so")
    apply_fixes(linkable, ("compile folder",), home, None)
    assert not folder.exists() and other.exists()


def test_of_a_flag_that_pytensor_breaks_on(prefix: Prefix, home: Path) -> None:
    place = prefix("pytensor-3.3.7", "pip-openblas")
    flags = "lib__amdlibm=True,blas__ldflags="
    apply_fixes(place, ("known faults", "settings", "ldflags"), home, "own", PYTENSOR_FLAGS=flags)


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
    has_pip: bool,
    slow_numpy: Path,
    prefix: Prefix,
    workspace: Workspace,
    tmp_path: Path,
    home: Path,
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
    applied(serving["fix"], variables, home)
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
