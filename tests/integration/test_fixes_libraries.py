"""A fault of a library or of a variable, its fix as the suite prints it: then it is gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.applied_fix import apply_fixes
from integration.checking import compiled, virtual_environment
from integration.test_verify_libm import LIAR
from integration.test_verify_libraries import BUSY, IDLE, NAIVE

Prefix = Callable[[str, str], Path]


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
