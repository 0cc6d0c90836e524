"""What several processes at a time cost, and which library PyTensor's default linker calls."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

chains = suite_module("blas.chains")
library = suite_module("blas.library")
bindings = suite_module("blas.bindings")
SCIPYS = "/x/scipy.libs/libscipy_openblas.so"
OURS = "/lib/libblas_threads.so.1"
ALONE = {"name": "openblas", "libraries": ["libblas_threads.so.1"], "alone": True}
COST = "4 chains at a time start 32 threads on 8 processors: with one thread each they are "


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the function that returns a context whose SciPy calls a library with 8 threads.

    gains: what the measurement finds.
    """

    def made(path: str, blas: object = None, gains: object = None, adapts: bool = False) -> Any:
        calls = [bindings.Binding("/scipy/m.so", "dgemm_", path)]
        handle = SimpleNamespace(**{"blas_threads_adapt": None} if adapts else {})
        monkeypatch.setattr(bindings, "bindings_of", lambda modules: calls)
        monkeypatch.setattr(bindings, "loaded", lambda path: handle)
        monkeypatch.setattr(chains.importlib, "import_module", lambda name: None)
        monkeypatch.setattr(chains, "is_installed", lambda name: True)
        monkeypatch.setattr(chains.machine, "usable_cores", lambda: 8)
        monkeypatch.setattr(chains, "gain_of_one_thread", lambda *_: gains or {})
        monkeypatch.setattr(library, "identify", identified)
        locked = {"variant": "v", "framework": "f", "blas": blas}
        result = context(expectation=locked if blas else None, advice=[], has_ldflags=True)
        result.framework.runs_numba = True
        result.framework.flag = {"linker": "auto"}.get
        result.serving = identified(path)
        return result

    return made


def identified(path: str) -> Any:
    return library.Library("openblas", "1", None, 8, path)


def test_numba_is_skipped_with_another_linker() -> None:
    detail = chains.check_numba(context()).detail
    assert detail == "linker=cvm runs C here: numba is not used"


def test_the_flavours_library_passes_and_another_one_fails(where: Any) -> None:
    assert chains.check_numba(where(OURS, ALONE)).status == "pass"
    other = where(SCIPYS, ALONE)
    found = chains.check_numba(other)
    assert found.status == "fail"
    assert found.detail.startswith("expected libblas_threads.so.1; linker=auto runs numba")
    assert found.fix == "put the files back:\n./invoke build --variant v --framework f --repair"
    # The check `one BLAS` has found it already: one fault is one row.
    other.second_blas_fix = "not from the lock: numpy and scipy"
    assert chains.check_numba(other).fix == other.second_blas_fix


def test_a_flavour_that_keeps_pips_files_passes(where: Any) -> None:
    assert chains.check_numba(where(SCIPYS, {**ALONE, "alone": False})).status == "pass"


def test_a_diagnosis_says_what_the_threads_cost_and_what_ends_it(where: Any) -> None:
    found = chains.check_numba(where(SCIPYS, gains={chains.LAPACK: 30}))
    assert found.status == "fail"
    assert found.detail.endswith(
        f"{COST}30.0 times as fast (SciPy's Cholesky and solve) here (n=150)"
    )
    assert found.fix.endswith("\nexport OPENBLAS_NUM_THREADS=1")


@pytest.mark.parametrize("gains", [{chains.LAPACK: 1.2}, {}])
def test_threads_that_cost_little_or_were_not_measured_are_no_fault(
    where: Any, gains: dict[str, float]
) -> None:
    assert chains.check_numba(where(SCIPYS, gains=gains)).status == "pass"


@pytest.mark.parametrize(
    ("gains", "detail", "is_advice"),
    [
        (
            {chains.LAPACK: 3, chains.PRODUCTS: 1},
            f"{COST}3.0 times as fast (SciPy's Cholesky and solve) and 1.0 times as fast "
            "(products) here (n=150)",
            True,
        ),
        ({chains.PRODUCTS: 1.5}, f"{COST}1.5 times as fast (products) here (n=150)", False),
    ],
)
def test_the_c_linkers_library_and_lapack_cost_what_is_measured(
    where: Any, gains: dict[str, float], detail: str, is_advice: bool
) -> None:
    given = where(SCIPYS, gains=gains)
    found = chains.check(given)
    assert (found.status, found.detail) == ("pass", detail)
    needs = f"{detail}: programs with several processes need OPENBLAS_NUM_THREADS=1"
    assert given.advice == [needs] * is_advice


def test_a_library_whose_calls_share_the_processors_is_not_measured(where: Any) -> None:
    assert chains.check(where(OURS, adapts=True)).status == "skip"
    one = where(OURS)
    one.serving = one.serving._replace(threads=1)
    assert chains.threads_of_chains(one.serving) is None


def test_both_ways_are_measured_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    variables: list[str] = []

    def call(words: list[str], seconds: float, environ: dict[str, str]) -> Any:
        variables.append(environ.get("MKL_NUM_THREADS", ""))
        count = 30 if variables[-1] == "1" else 10
        return SimpleNamespace(output=f"noise\n{json.dumps({'a': count})}\n", timed_out=False)

    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    monkeypatch.setattr(chains.process, "call", call)
    assert chains.gain_of_one_thread(2, 0.1) == {"a": 3.0}
    assert variables == ["7", "1", "7", "1"]


def test_processes_compute_at_the_same_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert chains._calls(lambda: sum(range(1000)), 2, 0.01) >= 2
    chains.main(["2", "0.01"])
    assert set(json.loads(capsys.readouterr().out)) <= {chains.LAPACK}
