"""The summary: a row for each environment, with its newest figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.bench import store
from stacks.core.errors import StaleError
from stacks.publish import command, summary
from stacks.publish.current import CurrentLock
from unit.helpers.benching import BASE, FAST, beside_loops, missing, result, runs, subject
from unit.helpers.publishing import GEMM, WITH_PEAK, at, keep, read

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
    assert one.heads == ("Gemm 2000, float64", "logreg")
    base, fast = one.rows
    assert (base.environment, base.blas, base.size) == (BASE.id, "NumPy's own", "80 MB")
    assert [cell.figure for cell in base.cells] == ["2 GFLOP/s, 20%", "400 ms"]
    assert [cell.ratio for cell in fast.cells] == ["2.50 (2.50 - 2.50)", "4.00 (4.00 - 4.00)"]
    assert base.is_current and not fast.is_current
    assert summary.headline([one]) == (
        "logreg with theano-1.0.5/fast: 4.00 (4.00 - 4.00) times as fast as with pip's packages "
        "alone (theano-1.0.5/pip-default), on here-2-cores."
    )


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


def test_what_did_not_answer_has_no_figure(tmp_path: Path) -> None:
    found = runs(BASE, [0.2] * 7, name="ntm step", unit="s")
    absent = missing(FAST).model_copy(update={"name": "ntm"})
    gemm = runs(FAST, [5.0] * 7, name=GEMM)
    store.write(at(tmp_path), result([*found, *gemm], BASE, FAST, missing=(absent,)))
    [one] = summary.summaries(read(tmp_path), {})
    assert [cell.figure for cell in one.rows[1].cells] == ["5 GFLOP/s", "no answer"]


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


def test_figures_beside_busy_loops_have_columns_of_their_own(tmp_path: Path) -> None:
    keep(tmp_path)
    found = [*runs(BASE, [1.0] * 7, name=GEMM), *runs(FAST, [4.0] * 7, name=GEMM)]
    busy = result(beside_loops(found), BASE, FAST, machine=WITH_PEAK, began=LATER)
    settings = busy.settings.model_copy(update={"busy": 2})
    store.write(at(tmp_path), busy.model_copy(update={"settings": settings}))
    [one] = summary.summaries(read(tmp_path), LOCKS)
    assert one.heads == ("Gemm 2000, float64", "Gemm 2000, float64 beside 2 busy loops")
    assert [cell.figure for cell in one.rows[1].cells] == ["5 GFLOP/s, 50%", "4 GFLOP/s"]
    assert summary.headline([one]).startswith("Gemm 2000, float64 with theano-1.0.5/fast: 2.50 ")
