"""MKL as people have it without this project: by Intel's installer, and as conda links it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.applied_fix import apply_fixes
from integration.checking import checked, virtual_environment
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
    base = prefix("theano-1.0.5", "pip-default")
    return virtual_environment(base, tmp_path_factory.mktemp("pip") / "venv")


@pytest.fixture
def variables(installed: Path) -> dict[str, str]:
    """Give what the script of Intel's installer sets.

    The installer also brings Intel's OpenMP, which the wheel of MKL lacks: so GNU's.
    """
    return {"MKLROOT": str(installed), "MKL_THREADING_LAYER": "GNU"}


def test_the_fix_links_the_mkl_of_intel_s_installer(
    by_pip: Path, installed: Path, home: Path, variables: dict[str, str]
) -> None:
    """NumPy's own OpenBLAS makes `numpy.dot` fast here, but not the framework's products."""
    fixes = apply_fixes(by_pip, BLAS, home, None, **variables)
    library = installed / "lib"
    assert f"ldflags = -L{library} -lmkl_rt -Wl,-rpath,{library}" in fixes[0]
    passes_with_mkl(by_pip, home, variables)


def test_flags_that_lead_to_it_pass(
    by_pip: Path, installed: Path, home: Path, variables: dict[str, str]
) -> None:
    flags = f"blas.ldflags=-L{installed}/lib -lmkl_rt"
    passes_with_mkl(by_pip, home, {**variables, "THEANO_FLAGS": flags})


def test_what_conda_links_passes(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-1.0.5", "mkl")
    flags = f"blas.ldflags=-L{place}/lib -lmkl_rt -lpthread -lm -lm"
    passes_with_mkl(place, home, {"THEANO_FLAGS": flags})


def passes_with_mkl(place: Path, home: Path, variables: dict[str, str]) -> None:
    found = checked(place, *BLAS, expect=None, HOME=str(home), **variables)
    assert [check for check in found if check.status == "fail"] == []
    assert any(check.detail.startswith("mkl 2026") for check in found)
