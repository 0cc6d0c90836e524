from __future__ import annotations

import statistics

import pytest

from stacks.bench import rows as bench_rows
from unit.helpers.benching import (
    ALIKE,
    BASE,
    FAST,
    OTHER,
    QUICK,
    SLOW,
    beside_loops,
    run,
    runs,
    subject,
)


def test_rows_have_their_ratio_to_the_baseline() -> None:
    found = bench_rows.rows([*runs(BASE, SLOW), *runs(FAST, QUICK)], [BASE, FAST])
    assert [(row.subject, row.reference) for row in found] == [
        (BASE.id, BASE.id),
        (FAST.id, BASE.id),
    ]
    assert found[0].ratio is None and found[1].ratio
    assert found[1].ratio.value == pytest.approx(2.5, abs=0.1)


def test_a_framework_without_its_baseline_is_compared_with_the_first() -> None:
    far = subject("fast", "pytensor-3.3.7")
    assert bench_rows.reference_of(far, [BASE, FAST, far]) == BASE.id
    own = subject("base", "pytensor-3.3.7", baseline=True)
    assert bench_rows.reference_of(far, [BASE, far, own]) == own.id


def test_the_fastest_of_each_measure() -> None:
    found = [*runs(BASE, SLOW), *runs(FAST, QUICK), *runs(OTHER, ALIKE)]
    ((measure, names),) = bench_rows.winners(found).items()
    assert measure.title == "Gemm, 2 threads" and set(names) == {FAST.id, OTHER.id}
    assert bench_rows.winners(runs(FAST, QUICK)) == {}
    found = [*runs(BASE, SLOW, unit="s"), *runs(FAST, QUICK, unit="s")]
    assert list(bench_rows.winners(found).values()) == [(BASE.id,)]


def test_only_like_graphs_are_compared() -> None:
    # Every third compilation of FAST gave a graph that takes twice as long.
    kinds = ["two", "two", "three", "two", "two", "three", "two"]
    found = runs(BASE, [10.0] * 7, unit="s", graph="two")
    for number, kind in enumerate(kinds, 1):
        found.append(run(FAST, number, 5.0 if kind == "two" else 20.0, unit="s", graph=kind))
    rows = bench_rows.rows(found, [BASE, FAST])
    ratio = rows[1].ratio
    assert ratio and (ratio.value, ratio.low, ratio.high, ratio.rounds) == (2, 2, 2, 5)
    assert rows[1].summary.high == 5
    assert bench_rows.graph_notes(rows) == [
        f"Gemm, 2 threads: {FAST.id} compiled to 2 graphs; its figures are of the one that came in "
        "5 of 7 rounds"
    ]


def test_a_more_frequent_fast_graph_makes_no_winner() -> None:
    # The same speed in like graphs; one of them only had the slow graph more often.
    often, seldom = ["two"] * 6 + ["three"] * 5, ["two"] * 5 + ["three"] * 6
    found = []
    for of, kinds in ((BASE, often), (FAST, seldom)):
        for number, kind in enumerate(kinds, 1):
            taken = (44.0 if kind == "two" else 88.0) + number % 3
            found.append(run(of, number, taken, unit="s", graph=kind))
    rows = bench_rows.rows(found, [BASE, FAST])
    assert rows[0].summary.median < 50 < 80 < rows[1].summary.median
    assert rows[1].ratio and not rows[1].ratio.significant and rows[1].common == "three"
    assert list(bench_rows.winners(found).values()) == [(BASE.id, FAST.id)]


def test_different_graphs_are_a_remark() -> None:
    found = [*runs(BASE, SLOW, graph="a"), *runs(FAST, QUICK, graph="b")]
    (output,) = bench_rows.graph_notes(bench_rows.rows(found, [BASE, FAST]))
    assert output == f"Gemm, 2 threads: {FAST.id} has another graph than {BASE.id}"


def test_numba_is_compared_with_c_without_a_numba_reference() -> None:
    theano, pytensor = BASE, subject("openblas", "pytensor-3.3.7")
    found = [*runs(theano, SLOW), *runs(pytensor, QUICK, name="Gemm, numba")]
    rows = bench_rows.rows(found, [theano, pytensor])
    assert rows[1].measure.name == "Gemm, numba" and rows[1].ratio
    assert rows[1].ratio.value == pytest.approx(2.5, abs=0.1)


def test_too_few_starts_are_a_remark() -> None:
    found = [one.model_copy(update={"start": 1}) for one in [*runs(BASE, SLOW), *runs(FAST, QUICK)]]
    rows = bench_rows.rows(found, [BASE, FAST])
    assert rows[1].graphs.starts == 1
    (output,) = bench_rows.graph_notes(rows)
    assert output == (
        f"Gemm, 2 threads: {FAST.id} has no interval: it takes 5 starts, and there were 1"
    )
    alike = [one.model_copy(update={"workload": "check_blas"}) for one in found]
    assert bench_rows.graph_notes(bench_rows.rows(alike, [BASE, FAST])) == []
    assert (
        bench_rows.graph_notes(
            bench_rows.rows([*runs(BASE, SLOW), *runs(FAST, QUICK)], [BASE, FAST])
        )
        == []
    )


def test_figures_beside_busy_loops_are_kept_apart_from_idle_ones() -> None:
    # Idle, FAST is the fastest; beside the loops BASE is.
    found = [*runs(BASE, SLOW), *runs(FAST, QUICK)]
    found += beside_loops([*runs(BASE, QUICK), *runs(FAST, SLOW)])
    rows = bench_rows.rows(found, [BASE, FAST])
    assert [(row.measure.title, row.subject) for row in rows] == [
        ("Gemm, 2 threads", BASE.id),
        ("Gemm, 2 threads", FAST.id),
        ("Gemm beside 2 busy loops, 2 threads", BASE.id),
        ("Gemm beside 2 busy loops, 2 threads", FAST.id),
    ]
    ratios = [row.ratio.value for row in rows if row.ratio]
    assert ratios == [pytest.approx(2.5, abs=0.1), pytest.approx(0.4, abs=0.02)]
    assert list(bench_rows.winners(found).values()) == [(FAST.id,), (BASE.id,)]


@pytest.mark.parametrize(
    ("unit", "samples", "mean"), [("s", (1.0, 1.0, 4.0), 2.0), ("GFLOP/s", (4.0, 4.0, 1.0), 2.0)]
)
def test_beside_busy_loops_the_slow_calls_of_a_round_count(
    unit: str, samples: tuple[float, ...], mean: float
) -> None:
    found = [run(BASE, number, *samples, unit=unit) for number in range(1, 8)]
    (idle,) = bench_rows.rows(found, [BASE])
    (busy,) = bench_rows.rows(beside_loops(found, 1), [BASE])
    assert idle.summary.median == statistics.median(samples)
    assert busy.summary.median == pytest.approx(mean)
    assert busy.measure.label == "Gemm beside 1 busy loop"
