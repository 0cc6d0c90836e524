"""The number of threads of the BLAS library."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import REPAIR, context

threads = suite_module("blas.threads")
library = suite_module("blas.library")
process = suite_module("core.process")
ONE = {"wall": 1.0, "cpu": 1.0, "own": 1.0, "fork": ""}
FOUR = {"wall": 1.0, "cpu": 4.0, "own": 1.0, "fork": ""}
HANGS = {**FOUR, "fork": "never ends its own"}
FORK = "after a product on 4 threads, a forked process never ends its own"
OPENBLAS = library.Library("openblas", "1", None, 4, "/lib/x.so")
PART = library.Library("mkl", "1", None, 4, "/lib/libmkl_intel_lp64.so.2")
FRONT = {"blas": {"libraries": ["libblas_threads.so.1"]}, "flags": {"blas.ldflags": "-lx"}}
FRONT.update(variant="v", framework="f")
EXPORT = "set this before Python starts:\nexport OPENBLAS_NUM_THREADS=%d"
LIMITED = "OMP_THREAD_LIMIT=1 limits it:\nunset OMP_THREAD_LIMIT"
BUSY = "4 threads, 4 usable; 4.0 processors busy; with one requested: 1.0"
ADAPTS = "; fewer for small work, and on a busy machine"
ASKS = "the library uses %d where OMP_NUM_THREADS asks for %d"
FIXED, NO = (f"{threads.ADAPT_VARIABLE}={value}" for value in ("fixed", "no"))


def ended(status: int, output: str, timed_out: bool = False) -> Any:
    return process.Done(status, output, timed_out)


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        *threads.EVERY_VARIABLE,
        threads.ADAPT_VARIABLE,
        "GOTO_NUM_THREADS",
        "OMP_THREAD_LIMIT",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("usable_cores", "affine_cores", "physical_cores"):
        monkeypatch.setattr(threads.machine, name, lambda: 4)
    monkeypatch.setattr(threads.machine, "quota_and_file", lambda: (None, None))


def row(
    status: str,
    detail: str,
    fix: str = "",
    serving: Any = OPENBLAS,
    alone: Any = ONE,
    together: Any = FOUR,
    **variables: str,
) -> tuple[object, ...]:
    """Return a case: alone, together: what the program prints on one thread, and on as many as are
    requested; a third one, where it is asked not to give way to other programs, after the number of
    processors that these keep busy."""
    return status, detail, fix, serving, alone, together, variables


IDLE = "4 threads, 4 usable; but the calling one does all the work"
WORK = "with one thread requested, by OPENBLAS_NUM_THREADS, other threads do 75 % of the work"
ADAPTING, NOT_THE_LIBRARY = OPENBLAS._replace(adapts=1), "the flags '-lx' lead to it; "
TWO, CANNOT = OPENBLAS._replace(threads=2), "the library cannot be called by itself: no"


@pytest.mark.parametrize(
    ("status", "detail", "fix", "serving", "alone", "together", "variables"),
    [
        row("pass", BUSY),
        row("pass", "number unknown, 4 usable", serving=OPENBLAS._replace(threads=None)),
        row("fail", ASKS % (4, 2), EXPORT % 2, OMP_NUM_THREADS="2"),
        row("fail", WORK, NOT_THE_LIBRARY, alone=FOUR),
        row("fail", IDLE, LIMITED, together=ONE, OMP_THREAD_LIMIT="1"),
        row("fail", IDLE, NOT_THE_LIBRARY, together=ONE),
        row("fail", CANNOT, alone=ended(1, "no")),
        row("fail", "matrix products did not end within 120 s", alone=ended(-9, "", True)),
        row("fail", "the library took no processor time", alone={**ONE, "cpu": 0}),
        row("pass", f"4 threads, 4 usable; {CANNOT}; with one", together=ended(1, "no")),
        # An old OpenBLAS does not say for how many it was built.
        row("pass", "2 threads, 4 usable; ", serving=TWO),
        row("fail", "the library uses 1", EXPORT % 4, serving=TWO._replace(threads=1)),
        row("pass", "2 threads, 4 usable, and it can use 2; ", serving=TWO._replace(most=2)),
        row("pass", "2 threads", serving=TWO._replace(most=2), OPENBLAS_NUM_THREADS="4"),
        row("fail", "the library uses 2 where 4 usable", serving=TWO._replace(most=64)),
        row("pass", "4 threads, 4 usable; a part of MKL, not measured alone", serving=PART),
        row("skip", "no library was found", serving=None),
        # What libblas_threads does with each call.
        row("pass", BUSY + ADAPTS, serving=ADAPTING),
        row("pass", f"{BUSY}{ADAPTS}; {NO} has no meaning", "", ADAPTING, **dict([NO.split("=")])),
        row(
            "pass", f"{BUSY}; the same for each call: {FIXED}", serving=OPENBLAS._replace(adapts=0)
        ),
        row(
            "pass",
            "1 thread, OMP_NUM_THREADS asks for 1; 1.0 processors busy; with one requested: 1.0",
            serving=ADAPTING._replace(threads=1),
            OMP_NUM_THREADS="1",
        ),
        row("pass", BUSY + ADAPTS, serving=ADAPTING, together=[1.5, ONE, FOUR]),
        row("fail", IDLE, serving=ADAPTING, together=[0.1, ONE, FOUR]),
        row("fail", IDLE, together=[1.5, ONE, FOUR]),
    ],
)
def test_the_number_of_threads(
    status: str,
    detail: str,
    fix: str,
    serving: Any,
    alone: Any,
    together: Any,
    variables: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    others, together, fixed = together if isinstance(together, list) else (0, together, together)
    monkeypatch.setattr(threads.machine, "noise_between", lambda *_: {"others": others})
    answer_with(monkeypatch, alone, together, fixed)
    found = threads.start(of_library(serving))()
    assert found.status == status and found.detail.startswith(detail)
    assert found.detail == detail or not detail.startswith(BUSY)
    assert (found.fix or "").startswith(fix) and (status == "fail") is bool(found.fix)


def of_library(serving: Any, **more: object) -> Any:
    """Return the context of a verification in which products call this library."""
    flags = {"blas.ldflags": "-lx", "cxx": "g++"}
    given = {"serving": serving, "has_ldflags": True, "is_baseline": False, "advice": []}
    return context(flags, **{**given, "folder": "/folder", **more})


def answer_with(
    monkeypatch: pytest.MonkeyPatch, alone: Any, together: Any, fixed: object = None
) -> None:
    """Have the program that multiplies print these times."""

    def started(command: list[str], path: str, variables: dict[str, str]) -> Any:
        count = variables["MKL_NUM_THREADS"]
        assert (command[-2:], path) == (
            ["threads-probe", "/lib/x.so"],
            f"/folder/threads-{count}.txt",
        )
        several = fixed if fixed and variables.get("THEANO_STACKS_THREADS") == "fixed" else together
        times = alone if count == "1" else several
        done = ended(0, f"noise\n{json.dumps(times)}\n") if isinstance(times, dict) else times
        return SimpleNamespace(finish=lambda seconds: done)

    monkeypatch.setattr(threads.process, "Started", started)


@pytest.mark.parametrize(
    ("expectation", "status", "advice"),
    [
        (FRONT, "fail", []),
        (None, "pass", [f"{FORK}: multiprocessing needs OPENBLAS_NUM_THREADS=1"]),
    ],
)
def test_a_forked_process_that_never_ends(
    expectation: object, status: str, advice: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_with(monkeypatch, ONE, HANGS)
    where = of_library(OPENBLAS, expectation=expectation)
    found = threads.start(where)()
    assert (found.status, where.advice) == (status, advice)
    assert status == "pass" or (found.detail, found.fix) == (FORK, REPAIR)


@pytest.mark.parametrize(
    ("name", "variables", "requested"),
    [
        ("openblas", {"OPENBLAS_NUM_THREADS": "9"}, ([4, 9], "OPENBLAS_NUM_THREADS")),
        ("blis", {"OMP_NUM_THREADS": "9,1"}, ([9, 9], "OMP_NUM_THREADS")),
        ("openblas", {"OPENBLAS_NUM_THREADS": "x", "OMP_NUM_THREADS": "0"}, ([4], None)),
        ("mkl", {}, ([4, 2], None)),
        ("mkl", {"MKL_NUM_THREADS": "9"}, ([4, 2, 9], "MKL_NUM_THREADS")),
    ],
)
def test_requested_numbers(
    name: str, variables: dict[str, str], requested: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(threads.machine, "physical_cores", lambda: 2)
    assert threads.requested(library.Library(name, "1", None, None, "/lib/x.so")) == requested


def test_a_quota_counts_but_not_in_a_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, ONE, ONE)
    assert threads.start(of_library(OPENBLAS, is_baseline=True))().status == "pass"
    monkeypatch.setattr(threads.machine, "usable_cores", lambda: 2)
    assert threads.start(of_library(OPENBLAS, is_baseline=True))().status == "pass"
    found = threads.start(of_library(OPENBLAS))()
    assert (found.detail, found.fix) == ("the library uses 4 where 2 usable", EXPORT % 2)
    # The environment sets the variable by the container's limit.
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(threads.machine, "quota_and_file", lambda: (1.5, "/sys/cpu.max"))
    limit = "the container's limit is 1.5 processors (/sys/cpu.max): OMP_NUM_THREADS=2"
    assert threads.start(of_library(OPENBLAS))().detail == f"the library uses 4 where {limit}"


def test_a_variable_that_leaves_processors_idle_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    answer_with(monkeypatch, ONE, ONE)
    where = of_library(OPENBLAS._replace(threads=1))
    assert threads.start(where)().status == "pass"
    assert where.advice == ["OMP_NUM_THREADS=1: the BLAS library uses 1 of 4 processors"]
