"""What several processes at a time cost, and which library PyTensor's default linker calls."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import REPAIR, context
from verify.blas import bindings, chains, library

SCIPYS = library.Library("openblas", "1", None, 8, "/x/scipy.libs/libscipy_openblas.so", None, None)
OURS = SCIPYS._replace(path="/lib/libblas_threads.so.1")
FLAVOUR = {"name": "openblas", "libraries": ["libblas_threads.so.1"], "alone": True}
COST = "4 chains at a time start 32 threads on 8 processors: with one thread each they are "
SECOND = "not from the lock: numpy and scipy"
EXPORT = "set this before Python starts, where several chains or processes run:\nexport "
EXPORT += "OPENBLAS_NUM_THREADS=1"
LAPACK, BOTH = {chains.LAPACK: 3}, {chains.LAPACK: 3, chains.PRODUCTS: 1}
BESIDE = (
    "processors, while other programs keep 1.8 busy: with one thread each they are 261 times as "
)
BESIDE += "fast (SciPy's Cholesky and solve) here (n=150)"
THREE = f"{COST}3.0 times as fast (SciPy's Cholesky and solve)"


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the function that returns a context whose SciPy calls a library with 8 threads.

    gains: what the measurement finds.
    """

    def made(
        called: Any, blas: object = None, gains: object = None, busy: float = 0, **more: object
    ) -> Any:
        calls = [bindings.Binding("/scipy/m.so", "dgemm_", called.path)]
        monkeypatch.setattr(bindings, "bindings_of_package", lambda name: calls)
        monkeypatch.setattr(chains.importlib, "import_module", lambda name: None)
        monkeypatch.setattr(chains, "is_installed", lambda name: True)
        monkeypatch.setattr(chains, "package_fix", lambda name, _: "install " + name)
        monkeypatch.setattr(chains.machine, "usable_cores", lambda: 8)
        monkeypatch.setattr(chains, "gain_of_one_thread", lambda *_: (gains or {}, busy))
        monkeypatch.setattr(library, "identify", lambda path: called)
        locked = {"variant": "v", "framework": "f", "blas": blas}
        given: dict[str, Any] = {
            "expectation": locked if blas else None,
            "advice": [],
            "has_ldflags": True,
        }
        result = context({"linker": "auto"}, **{**given, "serving": called, **more})
        result.framework.runs_numba = True
        return result

    return made


@pytest.mark.parametrize(
    ("called", "blas", "gains", "more", "status", "end", "fix"),
    [
        (OURS, FLAVOUR, None, {}, "pass", "libblas_threads.so.1)", None),
        (SCIPYS, FLAVOUR, None, {}, "fail", "libscipy_openblas.so)", REPAIR),
        # The check `one BLAS` has found it already: one fault is one row.
        (SCIPYS, FLAVOUR, None, {"second_blas_fix": SECOND}, "fail", "openblas.so)", SECOND),
        # A flavour that keeps pip's files.
        (SCIPYS, {**FLAVOUR, "alone": False}, None, {}, "pass", "libscipy_openblas.so)", None),
        (SCIPYS, None, LAPACK, {}, "fail", f"; {THREE} here (n=150)", EXPORT),
        (SCIPYS._replace(name=library.UNKNOWN),
         *(None, None, {}, "fail", "library with fast kernels", "install SciPy")),
        (SCIPYS, None, {chains.LAPACK: 1.2}, {}, "pass", "here (n=150)", None),
        (SCIPYS, None, {chains.LAPACK: 261.2}, {"busy": 1.8}, "fail", BESIDE, EXPORT),
        (SCIPYS, None, {}, {}, "pass", "the cost is unknown: SciPy's Cholesky did not run", None),
        (OURS._replace(adapts=1), None, LAPACK, {}, "pass", "libblas_threads.so.1)", None),
    ],
)  # fmt: skip
def test_the_library_that_numba_calls(
    called: Any,
    blas: object,
    gains: object,
    more: dict[str, Any],
    status: str,
    end: str,
    fix: str | None,
    where: Any,
) -> None:
    found = chains.check_numba(where(called, blas, gains, **more))
    assert (found.status, found.fix) == (status, fix)
    assert (
        found.detail.endswith(end) and "linker=auto runs numba, which calls SciPy's" in found.detail
    )
    assert found.detail.startswith("expected libblas_threads.so.1; " if blas and fix else "linker=")


@pytest.mark.parametrize(
    ("called", "gains", "status", "detail", "is_advice"),
    [
        (SCIPYS, BOTH, "pass", f"{THREE} and 1.0 times as fast (products) here (n=150)", True),
        (SCIPYS, {chains.PRODUCTS: 1.5}, "pass", f"{COST}1.5 times as fast (products) here (n=150)",
         False),
        *(
            (each, BOTH, "skip", "no library starts more threads than there are processors", False)
            for each in (OURS._replace(adapts=1), OURS._replace(threads=1))
        ),
    ],
)  # fmt: skip
def test_the_c_linkers_library_and_lapack_cost_what_is_measured(
    called: Any, gains: dict[str, float], status: str, detail: str, is_advice: bool, where: Any
) -> None:
    given = where(called, gains=gains)
    found = chains.check(given)
    assert (found.status, found.detail) == (status, detail)
    needs = f"{detail}: programs with several processes need OPENBLAS_NUM_THREADS=1"
    assert given.advice == [needs] * is_advice


def test_both_ways_are_measured_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    variables: list[str] = []

    def call(words: list[str], seconds: float, environ: dict[str, str]) -> Any:
        variables.append(environ.get("MKL_NUM_THREADS", ""))
        count = 30 if variables[-1] == "1" else 10
        return SimpleNamespace(
            output=f"verify-result {json.dumps({'a': count})}\n", timed_out=False
        )

    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    monkeypatch.setattr(chains.process, "call", call)
    assert chains.gain_of_one_thread(2, 0.1)[0] == {"a": 3.0}
    assert variables == ["7", "1", "7", "1"]
