"""What may be said of samples: by hand where a hand can reckon it, and by its error rate."""

from __future__ import annotations

import random

import pytest

from stacks.bench import rows as bench_rows
from stacks.bench.intervals import speedup, summary
from unit.helpers.benching import BASE, FAST, OTHER, run, runs, subject

SLOW = [40.0, 41, 39, 40, 42, 40, 41]
QUICK = [100.0, 104, 98, 101, 103, 99, 100]
ALIKE = [101.0, 103, 99, 100, 104, 98, 101]


def test_medians_and_quartiles() -> None:
    found = summary([5.0, 1, 3, 2, 4])
    assert (found.low, found.median, found.high) == (2, 3, 4)
    alone = summary([7.0])
    assert (alone.low, alone.median, alone.high) == (7, 7, 7)


def test_a_ratio_is_of_the_rounds_not_of_the_medians() -> None:
    # Each round is twice as fast, while the machine gets slower all the time.
    theirs = [10.0, 9, 8, 7, 6, 5, 4]
    found = speedup([2 * x for x in theirs], theirs, "GFLOP/s")
    assert (found.value, found.low, found.high, found.rounds) == (2, 2, 2, 7)


def test_of_seconds_less_is_faster() -> None:
    assert speedup([1.0] * 7, [2.0] * 7, "s").value == 2
    assert speedup([1.0] * 7, [2.0] * 7, "ns").value == 2


def test_the_same_samples_give_the_same_interval() -> None:
    assert speedup(QUICK, ALIKE, "GFLOP/s") == speedup(QUICK, ALIKE, "GFLOP/s")


def test_an_interval_that_includes_one_tells_nothing() -> None:
    assert speedup(QUICK, SLOW, "GFLOP/s").told
    assert not speedup(QUICK, ALIKE, "GFLOP/s").told
    assert not speedup(QUICK[:4], SLOW[:4], "GFLOP/s").told, "four rounds are too few"


def test_one_round_of_seven_that_went_wrong_hides_nothing() -> None:
    assert speedup([*QUICK[:-1], 10.0], SLOW, "GFLOP/s").told
    assert not speedup([*QUICK[:4], 10.0], SLOW[:5], "GFLOP/s").told


@pytest.mark.parametrize("count", [5, 7, 11])
def test_equals_are_seldom_told_apart(count: int) -> None:
    chance = random.Random(1)
    told = 0
    for _ in range(50):
        a, b = ([chance.gauss(100, 5) for _ in range(count)] for _ in range(2))
        told += speedup(a, b, "GFLOP/s").told
    # One in sixteen is due at five rounds, where all of them must agree; one in twenty is aimed at.
    assert told <= 6


def test_rows_have_their_ratio_to_the_baseline() -> None:
    found = bench_rows.rows([*runs(BASE, SLOW), *runs(FAST, QUICK)], [BASE, FAST])
    assert [(row.subject, row.reference) for row in found] == [
        (BASE.id, BASE.id),
        (FAST.id, BASE.id),
    ]
    assert found[0].ratio is None and found[1].ratio
    assert found[1].ratio.value == pytest.approx(2.5, abs=0.1)


def test_a_framework_without_its_baseline_is_compared_with_the_first() -> None:
    far = subject("fast", "pytensor-3.0.7")
    assert bench_rows.reference_of(far, [BASE, FAST, far]) == BASE.id
    own = subject("base", "pytensor-3.0.7", baseline=True)
    assert bench_rows.reference_of(far, [BASE, far, own]) == own.id


def test_the_fastest_of_each_measure() -> None:
    found = [*runs(BASE, SLOW), *runs(FAST, QUICK), *runs(OTHER, ALIKE)]
    ((measure, names),) = bench_rows.winners(found).items()
    assert measure.told == "Gemm, 2 threads" and set(names) == {FAST.id, OTHER.id}
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
    assert bench_rows.unlike(rows) == [
        f"Gemm, 2 threads: {FAST.id} compiled to 2 graphs; its figures are of the one that came in "
        "5 of 7 rounds"
    ]


def test_luck_with_the_graph_makes_no_winner() -> None:
    # The same speed in like graphs; one of them only had the slow graph more often.
    often, seldom = ["two"] * 6 + ["three"] * 5, ["two"] * 5 + ["three"] * 6
    found = []
    for of, kinds in ((BASE, often), (FAST, seldom)):
        for number, kind in enumerate(kinds, 1):
            taken = (44.0 if kind == "two" else 88.0) + number % 3
            found.append(run(of, number, taken, unit="s", graph=kind))
    rows = bench_rows.rows(found, [BASE, FAST])
    assert rows[0].summary.median < 50 < 80 < rows[1].summary.median
    assert rows[1].ratio and not rows[1].ratio.told and rows[1].common == "three"
    assert list(bench_rows.winners(found).values()) == [(BASE.id, FAST.id)]


def test_two_variants_of_different_graphs_are_told() -> None:
    found = [*runs(BASE, SLOW, graph="a"), *runs(FAST, QUICK, graph="b")]
    (said,) = bench_rows.unlike(bench_rows.rows(found, [BASE, FAST]))
    assert said == f"Gemm, 2 threads: {FAST.id} has another graph than {BASE.id}"


def test_what_numba_compiled_is_compared_with_c_where_there_is_no_other() -> None:
    theano, pytensor = BASE, subject("openblas", "pytensor-3.0.7")
    found = [*runs(theano, SLOW), *runs(pytensor, QUICK, name="Gemm, numba")]
    rows = bench_rows.rows(found, [theano, pytensor])
    assert rows[1].measure.name == "Gemm, numba" and rows[1].ratio
    assert rows[1].ratio.value == pytest.approx(2.5, abs=0.1)


def test_rounds_of_one_start_count_less_than_starts() -> None:
    # Two of four starts were lucky: eleven rounds each do not make that more certain.
    ours = [10.0] * 22 + [20.0] * 22
    theirs = [15.0 + n % 2 for n in range(44)]
    starts = [n // 11 for n in range(44)]
    alone = speedup(ours, theirs, "s")
    assert alone == speedup(ours, theirs, "s", range(44))
    grouped = speedup(ours, theirs, "s", starts)
    assert (grouped.rounds, grouped.starts) == (44, 4)
    assert (grouped.low, grouped.high) == (0.75, 1.6) and not grouped.told
    assert grouped.high - grouped.low >= alone.high - alone.low


def test_of_a_single_start_is_told() -> None:
    found = [one.model_copy(update={"start": 1}) for one in [*runs(BASE, SLOW), *runs(FAST, QUICK)]]
    rows = bench_rows.rows(found, [BASE, FAST])
    assert rows[1].graphs.starts == 1
    (said,) = bench_rows.unlike(rows)
    assert said == (
        f"Gemm, 2 threads: {FAST.id} was started once: the interval does not say what another "
        "start would give"
    )
    assert (
        bench_rows.unlike(bench_rows.rows([*runs(BASE, SLOW), *runs(FAST, QUICK)], [BASE, FAST]))
        == []
    )
