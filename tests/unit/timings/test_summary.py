"""The summary: a row for each environment, with its newest figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.bench import store
from stacks.core.errors import StaleError
from stacks.timings import command, markdown, page, summary
from stacks.timings.current import CurrentLock
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
from unit.helpers.publishing import GEMM, WITH_PEAK, at, keep, read, timings

LOCKS = {BASE.id: CurrentLock("a" * 64, 80_400_000), FAST.id: CurrentLock("f" * 64, 10**6)}
LATER = "2026-11-22T05:30:00Z"


def test_each_environment_has_its_newest_figures(tmp_path: Path) -> None:
    keep(tmp_path)
    steps = [*runs(BASE, [0.4] * 7, name="logreg step", unit="s")]
    steps += runs(FAST, [0.1] * 7, name="logreg step", unit="s")
    later = result(steps, BASE, FAST, machine=WITH_PEAK, began=LATER)
    settings = later.settings.model_copy(update={"workloads": ("logreg",)})
    store.write(at(tmp_path), later.model_copy(update={"settings": settings}))
    [one] = summary.summaries(read(tmp_path), LOCKS)
    assert [column.title for column in one.columns] == ["Gemm 2000, float64", "logreg"]
    base, fast = one.rows
    assert (base.environment, base.blas, base.size) == (BASE.id, "NumPy's own", "80 MB")
    assert [cell.figure for cell in base.cells] == ["2 GFLOP/s, 20%", "400 ms"]
    assert [cell.ratio for cell in fast.cells] == ["2.50 (2.50 - 2.50)", "4.00 (4.00 - 4.00)"]
    assert base.is_current and not fast.is_current
    assert summary.headline([one]) == (
        "Largest gain: logreg is 4.00 (4.00 - 4.00) times as fast with theano-1.0.5/fast as with "
        "pip's packages alone (theano-1.0.5/pip-default), on here-2-cores."
    )


def test_a_newer_figure_on_fewer_threads_replaces_none(tmp_path: Path) -> None:
    keep(tmp_path)
    [before] = summary.summaries(read(tmp_path), LOCKS)
    found = [
        one.model_copy(update={"threads": 1})
        for one in [*runs(BASE, [1.0] * 7, name=GEMM), *runs(FAST, [2.5] * 7, name=GEMM)]
    ]
    later = result(found, BASE, FAST, machine=WITH_PEAK, began=LATER)
    settings = later.settings.model_copy(update={"threads": (1,)})
    store.write(at(tmp_path), later.model_copy(update={"settings": settings}))
    [after] = summary.summaries(read(tmp_path), LOCKS)
    assert after.rows == before.rows


def test_a_ratio_to_another_framework_is_left_out(tmp_path: Path) -> None:
    other = subject("openblas", "pytensor-3.3.7")
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(other, [5.0] * 7, name=GEMM)]
    store.write(at(tmp_path), result(found, BASE, other, machine=WITH_PEAK))
    [one] = summary.summaries(read(tmp_path), {})
    assert [cell.ratio for row in one.rows for cell in row.cells] == ["", ""]
    assert summary.headline([one]) == ""


def test_another_graph_is_named_and_no_difference(tmp_path: Path) -> None:
    found = [*runs(BASE, [0.2] * 7, name="ntm step", unit="s", graph="one")]
    found += runs(FAST, [0.1] * 7, name="ntm step", unit="s", graph="two")
    store.write(at(tmp_path), result(found, BASE, FAST))
    [one] = summary.summaries(read(tmp_path), {})
    cell = one.rows[1].cells[0]
    assert (cell.ratio, cell.is_difference) == ("2.00 (2.00 - 2.00), another graph", False)


@pytest.mark.parametrize(
    ("failure", "cell"), [("", "no answer"), ("it was killed by SIGKILL", "failed")]
)
def test_what_did_not_answer_has_no_figure(failure: str, cell: str, tmp_path: Path) -> None:
    found = runs(BASE, [0.2] * 7, name="ntm step", unit="s")
    absent = missing(FAST).model_copy(update={"name": "ntm"})
    gemm = runs(FAST, [5.0] * 7, name=GEMM)
    found = [one.model_copy(update={"workload": "ntm"}) for one in found]
    absent = absent.model_copy(update={"failure": failure})
    store.write(at(tmp_path), result([*found, *gemm], BASE, FAST, missing=(absent,)))
    [one] = summary.summaries(read(tmp_path), {})
    assert [each.figure for each in one.rows[1].cells] == ["5 GFLOP/s", cell]


def test_the_suites_own_process_that_failed_has_no_figure_of_any_measure(tmp_path: Path) -> None:
    found = [
        one.model_copy(update={"workload": "gemm,elementwise"})
        for name in (GEMM, "exp float32 400x512")
        for one in runs(BASE, [2.0] * 7, name=name)
    ]
    absent = missing(FAST).model_copy(update={"name": "gemm,elementwise", "failure": "killed"})
    store.write(at(tmp_path), result(found, BASE, FAST, missing=(absent,)))
    [one] = summary.summaries(read(tmp_path), {})
    assert [cell.figure for cell in one.rows[1].cells] == ["failed", "failed"]


def test_a_lock_that_has_changed_since_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path)
    (tmp_path / "envs").mkdir()
    monkeypatch.setattr(command, "current_locks", lambda workspace: LOCKS)
    command.publish(at(tmp_path))
    with pytest.raises(StaleError, match=r"^theano-1\.0\.5/fast: the lock has changed") as raised:
        command.check(at(tmp_path))
    assert "./invoke bench --all" in str(raised.value)


def test_a_lock_of_a_device_that_may_not_be_at_hand_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(ON_DEVICE, [5.0] * 7, name=GEMM)]
    store.write(at(tmp_path), result(found, BASE, ON_DEVICE))
    (tmp_path / "envs").mkdir()
    locks = LOCKS | {ON_DEVICE.id: CurrentLock("f" * 64, 1)}
    monkeypatch.setattr(command, "current_locks", lambda workspace: locks)
    command.publish(at(tmp_path))
    command.check(at(tmp_path))
    assert "device (older lock)" in timings(tmp_path)


def test_an_environment_is_outdated_if_no_machine_timed_its_lock(tmp_path: Path) -> None:
    keep(tmp_path)
    elsewhere = WITH_PEAK.model_copy(update={"name": "elsewhere"})
    old = FAST.model_copy(update={"lock": "0" * 64})
    gone = subject("gone").model_copy(update={"lock": "0" * 64})
    for number, of in enumerate((old, gone)):
        machine = elsewhere.model_copy(update={"name": f"elsewhere-{number}"})
        store.write(at(tmp_path), result(runs(of, [1.0] * 7, name=GEMM), of, machine=machine))
    current = {one.id: CurrentLock("a" * 64, 1) for one in (BASE, FAST)}
    every = summary.summaries(read(tmp_path), current)
    assert [one.machine for one in every] == ["here-2-cores", "elsewhere-0", "elsewhere-1"]
    assert [row.is_current for one in every for row in one.rows] == [True, True, False, False]
    # A variant that no longer exists cannot be timed again.
    assert summary.outdated(every, current) == []
    of_another_lock = current | {FAST.id: CurrentLock("f" * 64, 1)}
    again = summary.summaries(read(tmp_path), of_another_lock)
    assert summary.outdated(again, of_another_lock) == [FAST.id]
    of_the_smaller = current | {FAST.id: CurrentLock(old.lock, 1)}
    third = summary.summaries(read(tmp_path), of_the_smaller)
    assert [row.is_current for one in third[:2] for row in one.rows] == [True, False, True]
    assert summary.outdated(third, of_the_smaller) == []


def test_the_summary_with_the_most_current_environments_is_the_first(tmp_path: Path) -> None:
    keep(tmp_path)
    newer = BASE.model_copy(update={"lock": "1" * 64})
    machine = WITH_PEAK.model_copy(update={"name": "elsewhere"})
    store.write(at(tmp_path), result(runs(newer, [1.0] * 7, name=GEMM), newer, machine=machine))
    every = summary.summaries(read(tmp_path), {BASE.id: CurrentLock("1" * 64, 1)})
    assert [(one.machine, len(one.rows)) for one in every] == [
        ("elsewhere", 1),
        ("here-2-cores", 2),
    ]


def test_a_figure_of_an_older_lock_is_marked(tmp_path: Path) -> None:
    keep(tmp_path)
    now = [one.model_copy(update={"lock": "f" * 64}) for one in (BASE, FAST)]
    steps = [run for one in now for run in runs(one, [0.1] * 7, name="ntm step", unit="s")]
    later = result(steps, *now, machine=WITH_PEAK, began=LATER)
    settings = later.settings.model_copy(update={"workloads": ("ntm",)})
    store.write(at(tmp_path), later.model_copy(update={"settings": settings}))
    current = {one.id: CurrentLock("f" * 64, 1) for one in now}
    [one] = summary.summaries(read(tmp_path), current)
    assert [row.is_current for row in one.rows] == [True, True]
    assert [cell.is_older for row in one.rows for cell in row.cells] == [True, False] * 2
    text = markdown.document(read(tmp_path), current)
    assert "| 5 GFLOP/s, 50%&dagger;<br>**2.50 (2.50 - 2.50)** | 100 ms<br>1.00" in text
    assert "&dagger; of an older lock" in text and "(older lock)" not in text
    page_text = page.document(read(tmp_path), current)
    assert "5 GFLOP/s, 50%†<br>" in page_text and "† of an older lock" in page_text


def test_the_baseline_comes_first_and_the_answers_before_other_columns(tmp_path: Path) -> None:
    before = subject("aaa")
    found = [run for one in (before, BASE) for run in runs(one, [2.0] * 7, name=GEMM)]
    for name in ("check_blas 2000", "logreg step", "lstm merged"):
        found += runs(BASE, [0.1] * 7, name=name, unit="s")
    store.write(at(tmp_path), result(found, before, BASE, machine=WITH_PEAK))
    [one] = summary.summaries(read(tmp_path), {})
    assert [row.flavour for row in one.rows] == ["base", "aaa"]
    assert [column.head for column in one.short] == ["check_blas 2000, float64", "LSTM"]
    assert [column.head for column in one.columns] == [
        *("check_blas 2000, float64", "LSTM", "Gemm 2000, float64", "logreg")
    ]
    # 2 * 2000**3 operations in 0.1 s; the script's seconds are those of ten calls.
    assert one.rows[0].cells[0].figure == "1 s, 160 GFLOP/s, 1600%"


def test_the_first_step_is_the_compilation_and_a_call(tmp_path: Path) -> None:
    of = {"name": "lstm merged", "unit": "s"}
    found = [*runs(BASE, [0.5] * 7, compile=3.5, **of), *runs(FAST, [0.25] * 7, compile=1.75, **of)]
    once = [one.model_copy(update={"start": 1}) for one in found]
    later = {"began": LATER, "machine": WITH_PEAK}
    store.write(at(tmp_path), result(found, BASE, FAST, machine=WITH_PEAK))
    [one] = summary.summaries(read(tmp_path), LOCKS)
    assert [column.head for column in one.short] == ["LSTM", "LSTM, first step"]
    assert [row.cells[1].figure for row in one.rows] == ["4 s", "2 s"]
    assert one.rows[1].cells[1].ratio == "2.00 (2.00 - 2.00)"
    store.write(at(tmp_path), result(once, BASE, FAST, **later))
    [one] = summary.summaries(read(tmp_path), LOCKS)
    # One start has no interval.
    cell = one.rows[1].cells[1]
    assert (cell.figure, cell.ratio, cell.is_difference) == ("2 s", "2.00 (1 start)", False)


def test_figures_beside_busy_loops_have_columns_of_their_own(tmp_path: Path) -> None:
    keep(tmp_path)
    found = [*runs(BASE, [1.0] * 7, name=GEMM), *runs(FAST, [4.0] * 7, name=GEMM)]
    busy = result(beside_loops(found), BASE, FAST, machine=WITH_PEAK, began=LATER)
    settings = busy.settings.model_copy(update={"busy": 2})
    store.write(at(tmp_path), busy.model_copy(update={"settings": settings}))
    [one] = summary.summaries(read(tmp_path), LOCKS)
    assert [column.title for column in one.columns] == [
        "Gemm 2000, float64",
        "Gemm 2000, float64 beside 2 busy loops",
    ]
    assert [cell.figure for cell in one.rows[1].cells] == ["5 GFLOP/s, 50%", "4 GFLOP/s"]
    assert summary.headline([one]).startswith("Largest gain: Gemm 2000, float64 is 2.50 ")
