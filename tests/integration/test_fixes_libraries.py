"""A fault of a library, package or variable, its fix as the suite prints it: then it is gone."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from integration.applied_fix import applied, apply_fixes
from integration.checking import checked, compiled, virtual_environment
from integration.conftest import Prefix
from integration.programs import run
from integration.test_verify_libm import LIAR
from integration.test_verify_libraries import BUSY, IDLE, NAIVE
from stacks.core.workspace import Workspace
from stacks.environments.programs import SUITE
from stacks.sources.fetch import fetch
from stacks.sources.pins import read_pins


@pytest.mark.parametrize(
    ("source", "checks"),
    [
        (IDLE, ("library", "Gemm numbers")),
        (BUSY, ("library", "threads")),
        (NAIVE, ("library", "speed")),
    ],
)
def test_of_a_library_that_is_loaded_before_all_others(
    prefix: Prefix, home: Path, source: str, checks: tuple[str, ...]
) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    library = compiled(place, home, "libfirst.so", source)
    [fix] = apply_fixes(place, checks, home, "own", LD_PRELOAD=str(library))
    assert fix == f"LD_PRELOAD leads to {library}:\nunset LD_PRELOAD"


def test_of_a_library_that_is_found_before_the_right_one(prefix: Prefix, home: Path) -> None:
    place, good = prefix("theano-1.0.5", "pip-default"), prefix("theano-1.0.5", "openblas") / "lib"
    bad = home / "a folder"
    bad.mkdir()
    source = "".join(f"void {name}_() {{}}" for name in ("dgemm", "sgemm", "dgemv", "sgemv"))
    library = compiled(place, bad, "libopenblas.so.0", f'extern "C" {{ {source} }}')
    variables = {"THEANO_FLAGS": f"blas.ldflags=-L{good} -lopenblas", "LD_PRELOAD": "libm.so.6"}
    search = {"LD_LIBRARY_PATH": f"{bad}:{good}"}
    [fix] = apply_fixes(place, ("library",), home, None, **variables, **search)
    assert fix == f"LD_LIBRARY_PATH leads to {library}:\nexport LD_LIBRARY_PATH={good}"


def test_of_wrong_array_functions(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-1.0.5", "openblas-amdlibm")
    liar = compiled(place, home, "libliar.so", LIAR)
    apply_fixes(place, ("libm", "accuracy"), home, "own", LD_PRELOAD=f"libm.so.6 {liar}")


def test_of_a_second_blas(prefix: Prefix, home: Path) -> None:
    others = prefix("theano-1.0.5", "pip-openblas") / "lib/python3.9/site-packages"
    for name in ("numpy", "numpy.libs"):
        (home / name).symlink_to(others / name)
    place = prefix("theano-1.0.5", "openblas")
    apply_fixes(place, ("one BLAS",), home, "own", PYTHONPATH=f"/none:{home}")


@pytest.mark.parametrize(
    ("flavour", "variable", "value"),
    [("openblas", "OPENBLAS_CORETYPE", "Nehalem"), ("blis", "BLIS_ARCH_TYPE", "5")],
)
def test_of_slow_kernels(
    prefix: Prefix, home: Path, flavour: str, variable: str, value: str
) -> None:
    place = prefix("theano-1.0.5", flavour)
    checks = ("library", "speed", "kernels")
    fixes = apply_fixes(place, checks, home, "own", **{variable: value})
    assert set(fixes) == {f"{variable}={value} selects these kernels:\nunset {variable}"}


def test_of_the_number_of_threads(prefix: Prefix, home: Path) -> None:
    # BLIS, by itself, takes one thread.
    place = virtual_environment(prefix("theano-1.0.5", "pip-default"), home / "venv")
    for path in prefix("theano-1.0.5", "blis").glob("lib/libblis*.so*"):
        (place / "lib" / path.name).symlink_to(path)
    apply_fixes(place, ("ldflags",), home, None)
    [fix] = apply_fixes(place, ("library", "threads"), home, None)
    assert fix.startswith("set this before Python starts:\nexport BLIS_NUM_THREADS=")


def test_of_a_numpy_that_is_too_new(prefix: Prefix, tmp_path: Path, home: Path) -> None:
    base, newer = prefix("theano-1.0.5", "pip-default"), prefix("aesara-2.8.7", "pip-default")
    place = tmp_path / "a venv"
    subprocess.run([base / "bin/python", "-m", "venv", "--without-pip", place], check=True)
    [site] = place.glob("lib/python*/site-packages")
    for source, names in ((base, "theano* Theano* scipy* six* pip*"), (newer, "numpy*")):
        [packages] = source.glob("lib/python*/site-packages")
        for path in (path for name in names.split() for path in packages.glob(name)):
            if path.is_dir():
                shutil.copytree(path, site / path.name)
            else:
                shutil.copyfile(path, site / path.name)
    # Theano does not import: for want of a name that NumPy has dropped, then of that of its BLAS.
    variables = {"HOME": str(home)}

    def fix(reason: str) -> str:
        done = run(place, SUITE, **variables)
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
        return done.stderr.partition("  fix: ")[2].strip()

    applied(fix("`np.bool`"), variables, home)
    # Its first step installs OpenBLAS, as root; no flag can name a library below a blank.
    _, setting = fix("'blas_opt_info'").split("\nthen ")
    setting, _, without_root = setting.partition("\nor, without root, ")
    assert without_root == "MKL by pip in an environment whose path has no blanks"
    applied(setting, variables, home)
    assert checked(place, "settings", expect=None, **variables)[0].status == "pass"


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
