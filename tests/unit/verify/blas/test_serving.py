"""Which library matrix products call, and whether it is the only one."""

import shutil
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
ALONE = {**LOCKED, "blas": {**OPENBLAS, "alone": True}}
FLAGS = {"compiledir": "/compiled", "cxx": "g++", "blas.ldflags": ""}


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


def check(
    monkeypatch: pytest.MonkeyPatch,
    calls: list[tuple[str, str]],
    expectation: object = None,
    scipy: tuple[str, ...] = (),
) -> Any:
    """Check an environment whose modules make these calls: (module, library)."""
    made = [bindings.Binding(module, "dgemm_", path) for module, path in calls]
    own = [each for each in made if each.module == COMPILED]
    called = {
        "numpy": [each for each in made if each.module == NUMPY],
        "scipy": [bindings.Binding("/scipy.so", "dgemm_", path) for path in scipy],
    }
    monkeypatch.setattr(serving.blas_operations, "compiled", lambda *_: None)
    monkeypatch.setattr(bindings, "bindings_of", lambda modules: own)
    monkeypatch.setattr(bindings, "bindings_of_package", called.get)
    return serving.check(context(FLAGS, has_ldflags=True, expectation=expectation))


BASELINE = {**LOCKED, "blas": None}
EXPECTED = {**LOCKED, "blas": OPENBLAS}
OWN, OWN_X, BY_NUMPY = (
    (COMPILED, "/lib/libopenblas.so"),
    (COMPILED, "/lib/x.so"),
    (NUMPY, "/l/x.so"),
)
OTHER = "expected openblas (libopenblas*); found openblas 1 (libblis.so)"


@pytest.mark.parametrize(
    ("calls", "expectation", "status", "detail"),
    [
        ([OWN], None, "pass", "openblas 1 (libopenblas.so); scipy uses openblas 1 (libx.so)"),
        ([(COMPILED, "/lib/libblas.so")], None, "fail", "not known as a library with fast kernels"),
        ([BY_NUMPY], None, "fail", "openblas 1 (x.so), through NumPy"),
        ([], None, "fail", "neither the framework's modules nor NumPy's call any BLAS library"),
        ([OWN, OWN_X], None, "fail", "more than one: "),
        ([OWN], EXPECTED, "pass", "openblas 1 (libopenblas.so)"),
        ([(COMPILED, "/lib/libblis.so")], EXPECTED, "fail", OTHER),
        ([BY_NUMPY], BASELINE, "pass", "openblas 1 (x.so), through NumPy"),
        ([OWN_X], BASELINE, "fail", "this is not the baseline: openblas 1"),
    ],
)
def test_the_library_that_products_call(
    calls: list[tuple[str, str]],
    expectation: object,
    status: str,
    detail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = check(
        monkeypatch, calls, expectation, scipy=("/sp/libx.so", *(path for _, path in calls))
    )
    assert found.status == status and detail in found.detail
    assert detail.startswith("neither") or found.detail.count("scipy uses") == 1 + (len(calls) > 1)
    if "not known" in detail:
        assert "lead to it; put these lines into ~/.theanorc:" in found.fix


IGNORED = "-L/none/none -L/tmp -lm; the linker ignores what does not exist: /none/none"


@pytest.mark.parametrize(
    ("ldflags", "cxx", "is_baseline", "status", "detail"),
    [
        ("", "g++", False, "fail", "empty: matrix products go through NumPy"),
        ("", "g++", True, "pass", "empty, as expected of the baseline"),
        ("-lx", "g++", True, "fail", "this is not the baseline: '-lx'"),
        ("-lm", "", False, "fail", "-lm: the framework has no C++ compiler"),
        ("-lm -lnothere", "g++", False, "fail", "-lm -lnothere does not link: "),
        ("-L/none/none -L/tmp -lm", "g++", False, "pass", IGNORED),
        ("-L/no -L/none -lm", "g++", False, "pass", "does not exist: /no, /none"),
    ],
)
def test_ldflags_are_set_and_link_unless_in_the_baseline(
    ldflags: str, cxx: str, is_baseline: bool, status: str, detail: str, tmp_path: Path
) -> None:
    if cxx and not shutil.which(cxx):
        pytest.skip("no g++")
    flags = {"blas.ldflags": ldflags, "cxx": cxx}
    where = context(flags, folder=str(tmp_path), is_baseline=is_baseline)
    found = serving.check_ldflags(where)
    assert found.status == status and detail in found.detail


LIB, NP, OTHERBLAS = "/lib/libopenblas.so", "/np/libx.so", "/x/libotherblas.so"
THEANOS, TWO = {LIB: ["theano"]}, {LIB: ["theano"], NP: ["numpy"]}
NUMPYS = {LIB: ["numpy"], NP: ["theano"]}
NAMED = "numpy and theano: openblas 1 (libopenblas.so)"
SEVERAL = "2 libraries, each with threads of its own: numpy: openblas"
NOBODYS = "called by nobody: openblas 1 (libotherblas.so)"
FRONT = "/front/libopenblas.so"


@pytest.mark.parametrize(
    ("callers", "expectation", "mapped", "status", "detail"),
    [
        ({}, None, (), "skip", "nothing calls a BLAS product"),
        ({LIB: ["numpy", "theano"]}, None, (), "pass", NAMED),
        # A front and the library behind it are one.
        ({LIB: ["theano"], FRONT: ["numpy"]}, ALONE, (), "pass", ""),
        # Several fail only where one is expected.
        (TWO, None, (), "pass", SEVERAL),
        (TWO, ALONE, (), "fail", SEVERAL),
        (NUMPYS, ALONE, (), "fail", "2 libraries"),
        # So does one that nothing calls.
        (THEANOS, ALONE, (FRONT, "/lib/libc.so"), "pass", ""),
        (THEANOS, None, (OTHERBLAS,), "pass", ""),
        (THEANOS, EXPECTED, (OTHERBLAS,), "pass", "theano: openblas 1 (libopenblas.so)"),
        (THEANOS, ALONE, (OTHERBLAS,), "fail", NOBODYS),
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
    where = context(FLAGS, expectation=expectation)
    found = serving.check_one_blas(where)
    assert found.status == status and detail in found.detail
    assert ("nobody" in found.detail) is ("nobody" in detail)
    # As the checks of files and versions have it: one fault is one row.
    assert found.fix == (REPAIR if status == "fail" else None)
    if "nobody" in detail:
        monkeypatch.setenv("LD_PRELOAD", "/x/libotherblas.so")
        fix = "LD_PRELOAD leads to /x/libotherblas.so:\nunset LD_PRELOAD"
        assert serving.check_one_blas(where).fix == fix


def test_a_library_that_numba_loads_when_it_compiles_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mapped: dict[str, int] = {}

    def compile_by_numba(where: Any, dtype: str) -> None:
        mapped["/x/libotherblas.so"] = 0

    monkeypatch.setattr(serving.speed, "by_numba", compile_by_numba)
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: mapped)
    monkeypatch.setattr(serving.bindings, "defining", lambda path: True)
    where = context(FLAGS)
    assert serving.uncalled(where, ["/lib/libopenblas.so"]) == []
    where.framework.runs_numba = True
    assert serving.uncalled(where, ["/lib/libopenblas.so"]) == ["/x/libotherblas.so"]


def test_callers_are_the_framework_and_packages_but_not_their_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = [
        "/compiled/module.so",
        "/x/site-packages/numpy/core/multiarray.so",
        "/x/site-packages/numpy/linalg/umath.so",
        "/x/site-packages/numpy.libs/libopenblas.so",
        "/usr/lib/libc.so",
    ]

    def bound(modules: list[str]) -> list[Any]:
        return [bindings.Binding(path, "dgemm_", "/lib/blas.so") for path in modules]

    monkeypatch.setattr(serving, "CALLERS", ("not_installed",))
    monkeypatch.setattr(serving.blas_operations, "compiled", lambda *_: None)
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: dict.fromkeys(paths, 0))
    monkeypatch.setattr(serving.bindings, "bindings_of", bound)
    assert serving.callers_of_libraries(context(FLAGS)) == {"/lib/blas.so": ["numpy", "theano"]}
