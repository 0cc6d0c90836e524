"""What is published of results: the newest figures, what to take, to avoid, and what is not known.

The three documents are drawn from this view; test_documents.py reads them.
"""

from pathlib import Path
from typing import Any

import pytest

from stacks.bench import store
from stacks.bench.result import Run, Subject
from stacks.bench.rows import beside
from stacks.timings.view import CurrentLock, MachineTable, View
from unit.helpers.benching import (
    BASE,
    FAST,
    ON_DEVICE,
    beside_loops,
    missing,
    result,
    runs,
    subject,
)
from unit.helpers.publishing import GEMM, WITH_PEAK, at, keep, read, settings

LOCKS = {BASE.id: CurrentLock("a" * 64, 80_400_000), FAST.id: CurrentLock("f" * 64, 10**6)}
LATER = "2026-11-22T05:30:00Z"
DEFAULT, MKL, OPENBLAS, AMDLIBM = (
    subject(name, baseline=name == "pip-default")
    for name in ("pip-default", "mkl", "openblas", "openblas-amdlibm")
)


def published(
    root: Path,
    rates: dict[Subject, float],
    name: str = GEMM,
    more: dict[str, Any] | None = None,
    **of: Any,
) -> View:
    """Store a result with a rate of each variant, the same in each round, and read all."""
    found = [run for one, rate in rates.items() for run in runs(one, [rate] * 7, name=name, **of)]
    store.write(at(root), result(found, *rates, **{"machine": WITH_PEAK, **(more or {})}))
    return read(root)


def cells(table: MachineTable) -> list[list[str]]:
    return [[cell.figure for cell in row.cells.values()] for row in table.rows]


def titles(table: MachineTable) -> list[str]:
    return [column.head + beside(column.busy) for column in table.columns]


def test_each_environment_has_its_newest_figures(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, began=LATER)
    more = {"began": LATER, "settings": settings(workloads=("logreg",))}
    published(tmp_path, {BASE: 0.4, FAST: 0.1}, "logreg step", more, unit="s")
    (table,) = read(tmp_path, LOCKS).machines
    assert titles(table) == ["Gemm 2000, float64", "logreg"]
    base, fast = table.rows
    assert (base.name, base.size) == (BASE.id, 80_400_000)
    assert cells(table) == [["2 GFLOP/s", "400 ms"], ["5 GFLOP/s", "100 ms"]]
    assert [cell.share for cell in fast.cells.values()] == ["50%", ""]
    assert [cell.times for cell in fast.cells.values()] == ["2.50 (2.50-2.50)", "4.00 (4.00-4.00)"]
    assert base.is_current and not fast.is_current
    # Of the two of the same kind, only the last is left.
    assert [one.result.began for one in table.sessions] == [LATER, LATER]


def test_a_newer_figure_replaces_an_older_one_unless_it_is_on_fewer_threads(tmp_path: Path) -> None:
    keep(tmp_path)
    before = read(tmp_path).machines[0].rows
    found = [
        one.model_copy(update={"threads": 1})
        for one in [*runs(BASE, [1.0] * 7, name=GEMM), *runs(FAST, [2.5] * 7, name=GEMM)]
    ]
    more = {"began": LATER, "settings": settings(threads=(1,))}
    store.write(at(tmp_path), result(found, BASE, FAST, machine=WITH_PEAK, **more))
    assert read(tmp_path).machines[0].rows == before
    more["settings"] = settings(workloads=("gemm", "elementwise"))
    view = published(tmp_path, {BASE: 3.0, FAST: 9.0}, more=more)
    assert cells(view.machines[0]) == [["3 GFLOP/s"], ["9 GFLOP/s"]]


def test_the_baseline_comes_first_and_check_blas_is_shown_as_a_rate(tmp_path: Path) -> None:
    before = subject("aaa")
    found = [run for one in (before, BASE) for run in runs(one, [2.0] * 7, name=GEMM)]
    for name in ("check_blas 2000", "logreg step", "lstm merged"):
        found += runs(BASE, [0.1] * 7, name=name, unit="s")
    store.write(at(tmp_path), result(found, before, BASE, machine=WITH_PEAK))
    (table,) = read(tmp_path).machines
    assert [row.flavour for row in table.rows] == ["base", "aaa"]
    assert titles(table) == ["check_blas 2000, float64", "Gemm 2000, float64", "LSTM", "logreg"]
    # 2 * 2000**3 operations in 0.1 s.
    assert cells(table)[0][0] == "160 GFLOP/s"
    assert next(iter(table.rows[0].cells.values())).share == "1600%"


@pytest.mark.parametrize(
    ("failure", "cell"), [("", "no answer"), ("it was killed by SIGKILL", "failed")]
)
def test_what_did_not_answer_has_no_figure(failure: str, cell: str, tmp_path: Path) -> None:
    def of(workload: str, *names: str) -> list[Run]:
        found = [run for name in names for run in runs(BASE, [0.2] * 7, name=name, unit="s")]
        return [one.model_copy(update={"workload": workload}) for one in found]

    absent = [
        missing(FAST).model_copy(update={"name": name, "failure": failure})
        for name in ("ntm", "gemm", "elementwise")
    ]
    found = of("ntm", "ntm step") + of("gemm", GEMM) + of("elementwise", "exp float32 400x512")
    other = runs(FAST, [0.1] * 7, name="logreg step", unit="s")
    store.write(at(tmp_path), result([*found, *other], BASE, FAST, missing=tuple(absent)))
    (table,) = read(tmp_path).machines
    assert cells(table)[1] == [cell, cell, "100 ms", cell]


def test_the_first_step_is_the_compilation_and_a_call(tmp_path: Path) -> None:
    of = {"name": "lstm merged", "unit": "s"}
    found = [*runs(BASE, [0.5] * 7, compile=3.5, **of), *runs(FAST, [0.25] * 7, compile=1.75, **of)]
    store.write(at(tmp_path), result(found, BASE, FAST, machine=WITH_PEAK))
    (table,) = read(tmp_path).machines
    assert titles(table) == ["LSTM", "LSTM, first step"]
    assert [row[1] for row in cells(table)] == ["4 s", "2 s"]
    once = [one.model_copy(update={"start": 1}) for one in found]
    store.write(at(tmp_path), result(once, BASE, FAST, machine=WITH_PEAK, began=LATER))
    (table,) = read(tmp_path).machines
    # One start has no interval.
    cell = list(table.rows[1].cells.values())[1]
    assert (cell.figure, cell.times, cell.is_difference) == ("2 s", "2.00 (1 start)", False)


def test_figures_beside_busy_loops_have_columns_and_answers_of_their_own(tmp_path: Path) -> None:
    published(tmp_path, {DEFAULT: 2.0, OPENBLAS: 5.0})
    found = [
        run
        for name in (GEMM, "mlp step", "ntm step")
        for one, rate in ((DEFAULT, 0.2), (OPENBLAS, 0.1))
        for unit in ["GFLOP/s" if name == GEMM else "s"]
        for run in runs(one, [rate] * 7, name=name, unit=unit, compile=9.0)
    ]
    more = {"began": LATER, "settings": settings(busy=2)}
    store.write(
        at(tmp_path), result(beside_loops(found), DEFAULT, OPENBLAS, machine=WITH_PEAK, **more)
    )
    view = read(tmp_path)
    (table,) = view.machines
    # A program compiles without the loops: a first step is of an idle machine.
    assert titles(table) == [
        *("Gemm 2000, float64", "Gemm 2000, float64 beside 2 busy loops"),
        *("MLP beside 2 busy loops", "ntm beside 2 busy loops"),
    ]
    assert cells(table)[1][:2] == ["5 GFLOP/s", "0.1 GFLOP/s"]
    # The peak was measured idle.
    assert [cell.share for cell in table.rows[1].cells.values()][:2] == ["50%", ""]
    assert [answer.column.question for answer in view.answers] == [
        "large matrix products",
        *("small dense layers, while 2 busy loops run", "recurrent layers, while 2 busy loops run"),
    ]
    # The article's steps are of an idle machine.
    assert view.steps == ()
    # Nor is there anything to set beside them without the first of them.
    two = {subject("mkl"): 0.1, subject("mkl-amdlibm"): 0.1}
    assert published(tmp_path / "two", two, "ntm step", unit="s").steps == ()


def test_a_usual_flavour_is_taken_unless_another_one_is_clearly_faster(tmp_path: Path) -> None:
    def taken(name: str, *rates: float) -> tuple[str, float]:
        four = dict(zip((DEFAULT, MKL, OPENBLAS, AMDLIBM), rates, strict=True))
        root = tmp_path / name
        (answer,) = published(root, four).answers
        (row,) = answer.rows.values()
        ratio = row.cells[answer.column].ratio
        assert answer.take == row.flavour and ratio
        return row.flavour, ratio.value

    assert taken("equal", 1.0, 2.0, 2.0, 2.0) == ("openblas", 2.0)
    assert taken("second", 1.0, 2.0, 1.5, 2.0) == ("openblas-amdlibm", 2.0)
    assert taken("other", 1.0, 3.0, 2.0, 2.5) == ("mkl", 3.0)
    assert taken("baseline", 4.0, 1.0, 2.0, 3.0) == ("openblas", 0.5)


def test_an_answer_has_a_choice_for_each_framework(tmp_path: Path) -> None:
    old = [subject(name, "theano-0.8.2", baseline=name == "pip-default") for name in (
        "pip-default", "openblas", "mkl"
    )]  # fmt: skip
    rates = {DEFAULT: 1.0, OPENBLAS: 2.0, old[0]: 1.0, old[1]: 2.0, old[2]: 4.0}
    device = ON_DEVICE.model_copy(update={"flavour": "gpuarray-cuda"})
    (answer,) = published(tmp_path, {**rates, device: 900.0}).answers
    chosen = {name: row.flavour for name, row in answer.rows.items()}
    assert chosen == {"theano-0.8.2": "mkl", "theano-1.0.5": "openblas"}
    on_device = [row for row in read(tmp_path).machines[0].rows if row.on_device]
    assert [row.flavour for row in on_device] == ["gpuarray-cuda"]
    # It has nothing to do with the processor's peak.
    assert [cell.share for cell in on_device[0].cells.values()] == [""]


def test_frameworks_are_compared_in_the_same_rounds_alone(tmp_path: Path) -> None:
    view = published(tmp_path, {BASE: 2.0, subject("openblas", "pytensor-3.3.7"): 5.0})
    assert [cell.times for row in view.machines[0].rows for cell in row.cells.values()] == ["", ""]
    assert view.answers == () and view.across is None
    three = [subject("openblas", name) for name in ("theano-0.8.2", "theano-1.0.5", "aesara-2.8.7")]
    two = {three[0]: 0.4, three[1]: 0.1}
    assert published(tmp_path / "two", two, "lstm merged", unit="s").across is None
    rates = {**two, three[2]: 0.2}
    across = published(tmp_path / "three", rates, "lstm merged", unit="s").across
    assert across and [row.ratio and row.ratio.value for row in across.figures] == [None, 4.0, 2.0]
    busy = {"settings": settings(busy=2)}
    assert published(tmp_path / "busy", rates, "mlp step", busy, unit="s").across is None


def test_a_newer_session_of_all_frameworks_hides_no_ratio_to_the_baseline(tmp_path: Path) -> None:
    before = published(tmp_path, {DEFAULT: 0.4, OPENBLAS: 0.1}, "mlp step", unit="s")
    three = [subject("openblas", name) for name in ("theano-0.8.2", "theano-1.0.5", "aesara-2.8.7")]
    after = published(tmp_path, dict.fromkeys(three, 0.2), "mlp step", {"began": LATER}, unit="s")
    assert after.across and after.machines == before.machines
    assert after.answers == before.answers


def test_an_environment_is_outdated_if_no_machine_timed_its_lock(tmp_path: Path) -> None:
    keep(tmp_path)
    old = FAST.model_copy(update={"lock": "0" * 64})
    gone = subject("gone").model_copy(update={"lock": "0" * 64})
    machine = WITH_PEAK.model_copy(update={"name": "elsewhere"})
    found = [run for of in (old, gone) for run in runs(of, [1.0] * 7, name=GEMM)]
    store.write(at(tmp_path), result(found, old, gone, machine=machine))
    # A variant that no longer exists cannot be timed again.
    for sha256, outdated in (("a" * 64, []), ("f" * 64, [FAST.id]), (old.lock, [])):
        current = {BASE.id: CurrentLock("a" * 64, 1), FAST.id: CurrentLock(sha256, 1)}
        assert read(tmp_path, current).not_timed == outdated


def test_the_machine_with_the_most_current_environments_is_the_first(tmp_path: Path) -> None:
    keep(tmp_path)
    newer = BASE.model_copy(update={"lock": "1" * 64})
    machine = WITH_PEAK.model_copy(update={"name": "elsewhere"})
    store.write(at(tmp_path), result(runs(newer, [1.0] * 7, name=GEMM), newer, machine=machine))
    view = read(tmp_path, {BASE.id: CurrentLock("1" * 64, 71_000_000)})
    assert [table.machine.name for table in view.machines] == ["elsewhere", "here-2-cores"]
    assert view.downloads == (71_000_000, 71_000_000)
