"""The number of threads of the BLAS library."""

import json
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from unit.helpers.verification import REPAIR, context
from verify.blas import library, threads
from verify.core import process

ONE = {"wall": 1.0, "cpu": 1.0, "own": 1.0, "fork": ""}
FOUR = {"wall": 1.0, "cpu": 4.0, "own": 1.0, "fork": ""}
HANGS = {**FOUR, "fork": "never ends its own"}
FORK = "after a product on 4 threads, a forked process never ends its own"
OPENBLAS = library.Library("openblas", "1", None, 4, "/lib/x.so", None, None)
PART = library.Library("mkl", "1", None, 4, "/lib/libmkl_intel_lp64.so.2", None, None)
FRONT = {"blas": {"libraries": ["libblas_threads.so.1"]}, "flags": {"blas.ldflags": "-lx"}}
FRONT.update(variant="v", framework="f")
EXPORT = "set this before Python starts:\nexport OPENBLAS_NUM_THREADS=%d"
LIMITED = "OMP_THREAD_LIMIT=1 limits the threads of BLAS or OpenMP:\nunset OMP_THREAD_LIMIT"
WAYS = "BLIS_JC_NT=2 limits the threads of BLAS or OpenMP:\nunset BLIS_JC_NT"
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


class Case(NamedTuple):
    """A library, what is printed for it, and what the check finds.

    alone, together: by the program on one thread, and on as many as are requested; a third one,
    where it is asked not to give way to other programs, after the number of processors that these
    keep busy.
    """

    status: str
    detail: str
    fix: str = ""
    serving: Any = OPENBLAS
    alone: Any = ONE
    together: Any = FOUR
    variables: str = ""


IDLE = "4 threads, 4 usable; but the calling one does all the work"
WORK = "with one thread requested, by OPENBLAS_NUM_THREADS, other threads do 75 % of the work"
ADAPTING, NOT_THE_LIBRARY = OPENBLAS._replace(adapts=1), "the flags '-lx' lead to it; "
TWO, CANNOT = OPENBLAS._replace(threads=2), "the library cannot be called by itself: no"


@pytest.mark.parametrize(
    "case",
    [
        Case("pass", BUSY),
        Case("pass", "number unknown, 4 usable", serving=OPENBLAS._replace(threads=None)),
        Case("fail", ASKS % (4, 2), EXPORT % 2, variables="OMP_NUM_THREADS=2"),
        Case("fail", WORK, NOT_THE_LIBRARY, alone=FOUR),
        Case("fail", IDLE, LIMITED, together=ONE, variables="OMP_THREAD_LIMIT=1"),
        Case("fail", IDLE, NOT_THE_LIBRARY, together=ONE),
        Case("fail", "the library uses 2", WAYS, TWO._replace(most=64), variables="BLIS_JC_NT=2"),
        # A limit that is no lower is not the reason.
        Case("fail", IDLE, NOT_THE_LIBRARY, together=ONE, variables="OMP_THREAD_LIMIT=4"),
        Case("fail", CANNOT, alone=ended(1, "no")),
        Case("fail", "matrix products did not end within 120 s", alone=ended(-9, "", True)),
        Case("fail", "the library took no processor time", alone={**ONE, "cpu": 0}),
        Case("pass", f"4 threads, 4 usable; {CANNOT}; with one", together=ended(1, "no")),
        # An old OpenBLAS does not say for how many it was built.
        Case("pass", "2 threads, 4 usable; ", serving=TWO),
        Case("fail", "the library uses 1", EXPORT % 4, serving=TWO._replace(threads=1)),
        Case("pass", "2 threads, 4 usable, and it can use 2; ", serving=TWO._replace(most=2)),
        Case("pass", "2 threads", serving=TWO._replace(most=2), variables="OPENBLAS_NUM_THREADS=4"),
        Case("fail", "the library uses 2 where 4 usable", serving=TWO._replace(most=64)),
        Case("pass", "4 threads, 4 usable; a part of MKL, not measured alone", serving=PART),
        Case("skip", "no library was found", serving=None),
        # What libblas_threads does with each call.
        Case("pass", BUSY + ADAPTS, serving=ADAPTING),
        Case("pass", f"{BUSY}{ADAPTS}; {NO} has no meaning", "", ADAPTING, variables=NO),
        Case(
            "pass", f"{BUSY}; the same for each call: {FIXED}", serving=OPENBLAS._replace(adapts=0)
        ),
        Case(
            "pass",
            "1 thread, OMP_NUM_THREADS asks for 1; 1.0 processors busy; with one requested: 1.0",
            serving=ADAPTING._replace(threads=1),
            variables="OMP_NUM_THREADS=1",
        ),
        Case("pass", BUSY + ADAPTS, serving=ADAPTING, together=[1.5, ONE, FOUR]),
        Case("fail", IDLE, serving=ADAPTING, together=[0.1, ONE, FOUR]),
        Case("fail", IDLE, together=[1.5, ONE, FOUR]),
    ],
)
def test_the_number_of_threads(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.variables:
        monkeypatch.setenv(*case.variables.split("="))
    several = case.together if isinstance(case.together, list) else [0, case.together, None]
    monkeypatch.setattr(threads.machine, "noise_between", lambda *_: {"others": several[0]})
    answer_with(monkeypatch, case.alone, *several[1:])
    found = threads.start(of_library(case.serving))()
    assert found.status == case.status and found.detail.startswith(case.detail)
    assert found.detail == case.detail or not case.detail.startswith(BUSY)
    assert (found.fix or "").startswith(case.fix)
    assert (case.status == "fail") is bool(found.fix)


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
        assert command[-2:] == ["blas.threads:measured", "/lib/x.so"]
        assert path == f"/folder/threads-{count}.txt"
        is_fixed = fixed and variables.get(threads.ADAPT_VARIABLE) == "fixed"
        times = alone if count == "1" else fixed if is_fixed else together
        done = (
            ended(0, f"noise\nverify-result {json.dumps(times)}\n")
            if isinstance(times, dict)
            else times
        )
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
    assert threads.requested(OPENBLAS._replace(name=name, threads=None)) == requested


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
