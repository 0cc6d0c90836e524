"""Which library matrix products call, and whether it is the only one.

tests/integration/test_fixes.py and test_verify_faults.py break these in real environments.
"""

from pathlib import Path
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import REPAIR, context

serving = suite_module("blas.serving")
bindings = suite_module("blas.bindings")
library = suite_module("blas.library")
fixes = suite_module("core.fixes")

COMPILED, NUMPY = "/compiled/module.so", "/site-packages/numpy/core.so"
LOCKED = {"variant": "v", "framework": "f"}
OPENBLAS = {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]}
EXPECTED, BASELINE = {**LOCKED, "blas": OPENBLAS}, {**LOCKED, "blas": None}
ALONE = {**LOCKED, "blas": {**OPENBLAS, "alone": True}}
FLAGS = {"compiledir": "/compiled", "cxx": "g++", "blas.ldflags": ""}
LIB, NP, OTHER = "/lib/libopenblas.so", "/np/libx.so", "/x/libotherblas.so"
OWN, BLIS, BY_NUMPY = (COMPILED, LIB), (COMPILED, "/lib/libblis.so"), (NUMPY, "/l/x.so")


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every file be an OpenBLAS, and those below /front/ fronts of those below /lib/."""
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "THEANORC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fixes.packages, "link_flags", lambda: "-lopenblas")
    monkeypatch.setattr(library, "behind", lambda path: path.replace("/front/", "/lib/"))
    monkeypatch.setattr(library, "identify", identified)


def identified(path: str) -> Any:
    name = library.UNKNOWN if "libblas.so" in path else "openblas"
    return library.Library(name, "1", None, None, path)


@pytest.mark.parametrize(
    ("calls", "expectation", "status", "detail"),
    [
        ([OWN], None, "pass", "openblas 1 (libopenblas.so); scipy uses openblas 1 (libx.so)"),
        ([(COMPILED, "/lib/libblas.so")], None, "fail", "not known as a library with fast kernels"),
        ([BY_NUMPY], None, "fail", "openblas 1 (x.so), through NumPy"),
        ([], None, "fail", "neither the framework's modules nor NumPy's call any BLAS library"),
        ([OWN, BLIS], None, "fail", "more than one: "),
        ([OWN], EXPECTED, "pass", "openblas 1 (libopenblas.so)"),
        ([BLIS], EXPECTED, "fail", "expected openblas (libopenblas*); found openblas 1 (libblis"),
        ([BY_NUMPY], BASELINE, "pass", "openblas 1 (x.so), through NumPy"),
        ([OWN], BASELINE, "fail", "this is not the baseline: openblas 1"),
    ],
)
def test_the_library_that_products_call(
    calls: list[tuple[str, str]],
    expectation: object,
    status: str,
    detail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = [bindings.Binding(module, "dgemm_", path) for module, path in calls]
    called = {
        "numpy": [each for each in made if each.module == NUMPY],
        "scipy": [bindings.Binding("/scipy.so", "dgemm_", "/sp/libx.so")],
    }
    own = [each for each in made if each.module == COMPILED]
    monkeypatch.setattr(serving.blas_operations, "compiled", lambda *_: None)
    monkeypatch.setattr(bindings, "bindings_of", lambda modules: own)
    monkeypatch.setattr(bindings, "bindings_of_package", called.get)
    found = serving.check(context(FLAGS, has_ldflags=True, expectation=expectation))
    assert found.status == status and detail in found.detail
    assert bool(found.fix) is (status == "fail")


def test_the_linker_ignores_a_folder_that_is_not_there(tmp_path: Path) -> None:
    flags = {"blas.ldflags": "-L/none/none -L/tmp -lm", "cxx": "cc"}
    found = serving.check_ldflags(context(flags, folder=str(tmp_path), is_baseline=False))
    assert found.status == "pass"
    assert found.detail.endswith("-lm; the linker ignores what does not exist: /none/none")


THEANOS, TWO = {LIB: ["theano"]}, {LIB: ["theano"], NP: ["numpy"]}
SEVERAL = "2 libraries, each with threads of its own: numpy: openblas"
FRONT = "/front/libopenblas.so"


@pytest.mark.parametrize(
    ("callers", "expectation", "mapped", "status", "detail"),
    [
        ({}, None, (), "skip", "nothing calls a BLAS product"),
        # A front and the library behind it are one.
        ({LIB: ["theano"], FRONT: ["numpy"]}, ALONE, (), "pass", ""),
        (THEANOS, ALONE, (FRONT, "/lib/libc.so"), "pass", ""),
        # Several fail only where one is expected, and so does one that nothing calls.
        (TWO, None, (), "pass", SEVERAL),
        (TWO, ALONE, (), "fail", SEVERAL),
        (THEANOS, EXPECTED, (OTHER,), "pass", "theano: openblas 1 (libopenblas.so)"),
        (THEANOS, ALONE, (OTHER,), "fail", "called by nobody: openblas 1 (libotherblas.so)"),
    ],
)
def test_one_library_is_there(
    callers: dict[str, list[str]],
    expectation: object,
    mapped: tuple[str, ...],
    status: str,
    detail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "callers_of_libraries", lambda context: dict(callers))
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: dict.fromkeys(mapped, 0))
    monkeypatch.setattr(serving.bindings, "defining", lambda path: "blas" in path)
    found = serving.check_one_blas(context(FLAGS, expectation=expectation))
    assert found.status == status and detail in found.detail
    assert ("nobody" in found.detail) is ("nobody" in detail)
    # As the checks of files and versions have it: one fault is one row.
    assert found.fix == (REPAIR if status == "fail" else None)


def test_a_library_that_numba_loads_when_it_compiles_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mapped: dict[str, int] = {}
    monkeypatch.setattr(serving.speed, "by_numba", lambda *_: mapped.update({OTHER: 0}))
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: mapped)
    monkeypatch.setattr(serving.bindings, "defining", lambda path: True)
    where = context(FLAGS)
    assert serving.uncalled(where, [LIB]) == []
    where.framework.runs_numba = True
    assert serving.uncalled(where, [LIB]) == [OTHER]
