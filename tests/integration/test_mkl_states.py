"""MKL as people have it without this project: by Intel's installer, and as conda links it."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.applied_fix import apply_fixes
from integration.checking import checked
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import read_pins

Prefix = Callable[[str, str], Path]
BLAS = ("ldflags", "library", "Gemm", "Dot22")


@pytest.fixture(scope="module")
def installed(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with all of MKL, as Intel's installer makes it."""
    pins = read_pins(workspace.sources_lock)
    [pin] = [pin for pin in pins.files if pin.name == "mkl"]
    place = tmp_path_factory.mktemp("intel") / "mkl"
    with zipfile.ZipFile(fetch(workspace, [pin])[pin]) as wheel:
        for name in wheel.namelist():
            if "/data/lib/" in name and ".so" in name:
                path = place / "lib" / Path(name).name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(wheel.read(name))
    [versioned] = place.glob("lib/libmkl_rt.so.*")
    (place / "lib/libmkl_rt.so").symlink_to(versioned.name)
    return place


@pytest.fixture(scope="module")
def by_pip(prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a virtual environment with pip's Theano and NumPy."""
    place = tmp_path_factory.mktemp("pip") / "venv"
    base = prefix("theano-1.0.5", "pip-default")
    words = ["-m", "venv", "--system-site-packages", "--without-pip"]
    subprocess.run([base / "bin/python", *words, place], check=True)
    return place


@pytest.mark.parametrize("flags", ["", "blas.ldflags=-L{}/lib -lmkl_rt"])
def test_the_fix_links_the_mkl_of_intel_s_installer(
    by_pip: Path, installed: Path, home: Path, flags: str
) -> None:
    """NumPy's own product is fast here: its OpenBLAS serves `numpy.dot`, but not the framework.

    Without a path in the module, what the flags name is linked but not found.
    """
    # The installer also brings Intel's OpenMP, which no wheel of MKL has.
    variables = {"MKLROOT": str(installed), "MKL_THREADING_LAYER": "GNU"}
    if flags:
        variables["THEANO_FLAGS"] = flags.format(installed)
    fixes = apply_fixes(by_pip, BLAS, home, None, **variables)
    library = installed / "lib"
    assert f"ldflags = -L{library} -lmkl_rt -Wl,-rpath,{library}" in fixes[0]
    found = checked(by_pip, "library", expect=None, HOME=str(home), **variables)
    assert [check.status for check in found] == ["pass"] * len(found)
    assert "mkl 2026" in found[0].detail


def test_what_conda_links_passes(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-0.8.2", "mkl")
    flags = f"blas.ldflags=-L{place}/lib -lmkl_rt -lpthread -lm -lm"
    found = checked(place, *BLAS, expect=None, HOME=str(home), THEANO_FLAGS=flags)
    assert [check for check in found if check.status == "fail"] == []
    assert any("mkl 2026" in check.detail for check in found)
