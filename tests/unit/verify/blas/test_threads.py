"""The number of threads of the BLAS library."""

import json
import os
import time
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

threads = suite_module("blas.threads")
library = suite_module("blas.library")
process = suite_module("core.process")
ONE_THREAD = {"wall": 1.0, "cpu": 1.0, "own": 1.0, "fork": ""}
FOUR_THREADS = {**ONE_THREAD, "own": 0.25}
ADAPTS = "; fewer for small work, and on a busy machine"
FORK = "after a product on 4 threads, a forked process never ends its own"
FORK_ADVICE = [f"{FORK}: multiprocessing needs OPENBLAS_NUM_THREADS=1"]


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*threads.EVERY_VARIABLE, "GOTO_NUM_THREADS", "OMP_THREAD_LIMIT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("usable_cores", "affine_cores", "physical_cores"):
        monkeypatch.setattr(threads.machine, name, lambda: 4)
    monkeypatch.setattr(threads.library, "most_threads", lambda path: None)


def of_threads(count: int | None, **more: object) -> Any:
    """Return the context of a library with that many threads."""
    serving = library.Library("openblas", "1", None, count, "/lib/x.so")
    given = {"serving": serving, "has_ldflags": True, "is_baseline": False, "advice": []}
    return context(**{**given, **more})


def check(
    monkeypatch: pytest.MonkeyPatch,
    count: int | None,
    times: object = None,
    handle: object = None,
    **attributes: object,
) -> Any:
    measured = {1: ONE_THREAD, 4: FOUR_THREADS} if times is None else {}
    monkeypatch.setattr(threads, "measure", lambda context, count: measured.get(count, times))
    monkeypatch.setattr(threads.bindings, "loaded", lambda path: handle)
    return threads.check(of_threads(count, **attributes))


IGNORES = {"wall": 1.0, "cpu": 4.0, "own": 1.0}
EXPORT = "set this before Python starts:\nexport OPENBLAS_NUM_THREADS=2"


@pytest.mark.parametrize(
    ("count", "variables", "times", "status", "detail", "fix"),
    [
        (4, {}, None, "pass", "4 threads, 4 usable; 1.0 processors busy; with one requested: ", ""),
        (None, {}, None, "pass", "number unknown, 4 usable", ""),
        (
            7,
            {"OMP_NUM_THREADS": "2"},
            None,
            "fail",
            "the library uses 7 where OMP_NUM_THREADS asks for 2",
            EXPORT,
        ),
        (
            4,
            {},
            IGNORES,
            "fail",
            "with one thread requested, by OPENBLAS_NUM_THREADS, other threads do 75 % of the work",
            "lead to it; ",
        ),
        (
            4,
            {"OMP_THREAD_LIMIT": "1"},
            ONE_THREAD,
            "fail",
            "4 threads, 4 usable; but the calling one does all the work",
            "OMP_THREAD_LIMIT=1 limits it:\nunset OMP_THREAD_LIMIT",
        ),
        (4, {}, ONE_THREAD, "fail", "4 threads, 4 usable; but the calling", "the flags"),
        (4, {}, "no dgemm_", "fail", "no dgemm_", ""),
        # An old OpenBLAS does not say for how many it was built.
        (2, {}, None, "pass", "2 threads", ""),
        (1, {}, None, "fail", "the library uses 1", ""),
    ],
)
def test_the_number_of_threads(
    count: int | None,
    variables: dict[str, str],
    times: object,
    status: str,
    detail: str,
    fix: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = check(monkeypatch, count, times)
    assert found.status == status
    assert found.detail.startswith(detail) and fix in (found.fix or "")


def test_a_part_of_mkl_is_not_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    part = library.Library("mkl", "1", None, 4, "/lib/libmkl_intel_lp64.so.2")
    found = check(monkeypatch, 4, "it cannot be loaded", serving=part)
    assert found.status == "pass"
    assert found.detail == "4 threads, 4 usable; a part of MKL, not measured alone"
    assert threads.check(context(serving=None)).status == "skip"


@pytest.mark.parametrize(
    ("adapt", "wish", "end"),
    [
        (1, "", ADAPTS),
        (1, "no", f"{ADAPTS}; THEANO_STACKS_THREADS=no has no meaning"),
        (0, "fixed", "; the same for each call: THEANO_STACKS_THREADS=fixed"),
    ],
)
def test_whether_each_call_gets_a_number_of_its_own(
    adapt: int, wish: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANO_STACKS_THREADS", wish)
    handle = SimpleNamespace(blas_threads_adapt=lambda: adapt)
    assert check(monkeypatch, 4, handle=handle).detail.endswith("requested: 1.0" + end)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert check(monkeypatch, 1, handle=handle).detail.endswith("requested: 1.0")


@pytest.mark.parametrize(("others", "status"), [(1.5, "pass"), (0.1, "fail")])
def test_a_library_that_gives_way_to_other_programs_is_asked_not_to(
    others: float, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, str]] = []

    def measure(context: object, count: int, **more: str) -> dict[str, object]:
        asked.append(more)
        return FOUR_THREADS if more else ONE_THREAD

    monkeypatch.setattr(threads.machine, "noise_between", lambda *_: {"others": others})
    monkeypatch.setattr(threads, "measure", measure)
    handle = SimpleNamespace(blas_threads_adapt=lambda: 1)
    monkeypatch.setattr(threads.bindings, "loaded", lambda path: handle)
    assert threads.check(of_threads(4)).status == status
    assert ({"THEANO_STACKS_THREADS": "fixed"} in asked) is (status == "pass")


@pytest.mark.parametrize(
    ("libraries", "status", "advice"),
    [
        (["libblas_threads.so.1"], "fail", []),
        (["libopenblas.so*"], "pass", FORK_ADVICE),
        (None, "pass", FORK_ADVICE),
    ],
)
def test_a_forked_process_that_never_ends(
    libraries: list[str] | None, status: str, advice: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = {1: ONE_THREAD, 4: {**FOUR_THREADS, "fork": "never ends its own"}}
    monkeypatch.setattr(threads, "measure", lambda context, count: times[count])
    monkeypatch.setattr(threads.bindings, "loaded", lambda path: None)
    monkeypatch.setattr(threads, "library_fix", lambda context: "a fix")
    where = of_threads(4, expectation={"blas": {"libraries": libraries}} if libraries else None)
    found = threads.check(where)
    assert (found.status, where.advice) == (status, advice)
    assert status == "pass" or (found.detail, found.fix) == (FORK, "a fix")


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


def test_a_library_that_was_built_for_fewer_threads_than_there_are_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads.library, "most_threads", lambda path: 2)
    found = check(monkeypatch, 2)
    detail = "2 threads, 4 usable, and it can use 2"
    assert (found.status, found.detail.split(";")[0]) == ("pass", detail)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    assert check(monkeypatch, 2).status == "pass"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setattr(threads.library, "most_threads", lambda path: 64)
    assert check(monkeypatch, 2).status == "fail"


def test_a_baseline_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, 4, ONE_THREAD, is_baseline=True).status == "pass"
    # A quota allows fewer.
    monkeypatch.setattr(threads.machine, "usable_cores", lambda: 2)
    assert check(monkeypatch, 4, is_baseline=True).status == "pass"
    found = check(monkeypatch, 4)
    assert (found.detail, found.fix) == ("the library uses 4 where 2 usable", EXPORT)


def test_a_variable_that_leaves_processors_idle_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    advice: list[str] = []
    assert check(monkeypatch, 1, advice=advice).status == "pass"
    assert advice == ["OMP_NUM_THREADS=1: the BLAS library uses 1 of 4 processors"]


def test_set_variables_of_every_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads.os, "environ", {})
    threads.set_variables(3)
    assert set(os.environ.values()) == {"3"} and "MKL_NUM_THREADS" in os.environ


@pytest.mark.parametrize(
    ("done", "result"),
    [
        (process.Done(0, f"noise\n{json.dumps(ONE_THREAD)}\n", False), ONE_THREAD),
        (process.Done(0, json.dumps({**ONE_THREAD, "cpu": 0}), False), "took no processor time"),
        (process.Done(1, "OSError: no library", False), "by itself: OSError: no library"),
        (process.Done(-9, "", True), "did not end within 120 s"),
    ],
)
def test_measure_reads_the_probe(done: Any, result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(command: list[str], path: str, variables: dict[str, str]) -> Any:
        assert (command[-1], path) == ("numpy", "/folder/threads-2.txt")
        assert variables["MKL_NUM_THREADS"] == "2"
        return SimpleNamespace(finish=lambda seconds: done)

    monkeypatch.setattr(threads.process, "Started", started)
    times = threads.measure(context(has_ldflags=False, folder="/folder"), 2)
    assert times == result if isinstance(result, dict) else times.endswith(result)


def test_one_thread_is_measured_beside_other_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    def start(command: list[str], path: str, variables: dict[str, str]) -> Any:
        started.append(variables["OMP_NUM_THREADS"])
        return SimpleNamespace(finish=lambda seconds: process.Done(1, "no library", False))

    monkeypatch.setattr(threads.process, "Started", start)
    where = of_threads(2)
    where.folder, where.has_ldflags = "/folder", True
    finish = threads.start(where)
    assert started == ["1"]
    assert finish().detail == "the library cannot be called by itself: no library"
    assert threads.start(context(serving=None))().status == "skip"


def test_the_times_of_a_product_that_keeps_one_thread_busy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(threads, "product_of", lambda path: lambda: sum(range(10000)))
    threads.main(["/lib/x.so"])
    times = json.loads(capsys.readouterr().out)
    assert sorted(times) == ["calls", "cpu", "fork", "own", "wall"]
    assert times["calls"] >= 2
    # The two clocks are read one after the other.
    assert times["cpu"] + 0.01 >= times["own"] > 0 and times["wall"] >= 0.35


def test_what_a_forked_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert threads.fault_in_child(lambda: os._exit(3)) == "crashes in its own"
    assert threads.fault_in_child(lambda: None) == ""
    parent = os.getpid()
    monkeypatch.setattr(threads, "LIMIT", 0.1)
    found = threads.fault_in_child(lambda: time.sleep(60 if os.getpid() != parent else 0))
    assert found == "never ends its own"
