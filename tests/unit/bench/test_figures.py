"""What is said of samples: medians, ratios, intervals, winners, and the table."""

import statistics

import pytest

from stacks.bench import rows as bench_rows
from stacks.bench.intervals import speedup
from stacks.bench.result import Run
from unit.helpers.benching import (
    ALIKE,
    BASE,
    FAST,
    OTHER,
    QUICK,
    SLOW,
    beside_loops,
    missing,
    result,
    run,
    runs,
    subject,
)

FALLING = [10.0, 9, 8, 7, 6, 5, 4]
THREES = [n // 3 for n in range(15)]


@pytest.mark.parametrize(
    ("ours", "theirs", "unit", "starts", "value", "interval"),
    [
        # Each round is twice as fast, while the machine gets slower all the time.
        ([2 * x for x in FALLING], FALLING, "GFLOP/s", None, 2, "2.00-2.00"),
        # Of seconds less is faster.
        ([1.0] * 7, [2.0] * 7, "s", None, 2, "2.00-2.00"),
        ([1.0] * 7, [2.0] * 7, "ns", None, 2, "2.00-2.00"),
        # Rounds of one start are one value.
        ([10.0, 10, 40, 20, 20, 20, 5, 5, 5, 10, 10, 10, 20, 20, 20], [10.0] * 15, "s", THREES, 1,
         "0.50-2.00"),
        # Four starts are too few for an interval.
        ([8.0] * 4, [4.0] * 4, "GFLOP/s", None, 2, "4 starts"),
        ([8.0] * 9, [4.0] * 9, "GFLOP/s", THREES[:9], 2, "3 starts"),
    ],
)  # fmt: skip
def test_ratios_are_of_rounds_and_intervals_of_starts(
    ours: list[float],
    theirs: list[float],
    unit: str,
    starts: list[int] | None,
    value: float,
    interval: str,
) -> None:
    found = speedup(ours, theirs, unit, starts)
    assert (found.value, found.interval, found.rounds) == (value, interval, len(ours))
    assert found.significant is (interval == "2.00-2.00"), "else it includes 1, or there is none"


@pytest.mark.parametrize(
    ("count", "outside"), [(5, 0), (6, 0), (7, 0), (8, 0), (9, 1), (11, 1), (12, 2), (25, 7)]
)
def test_the_interval_is_of_the_values_in_their_order(count: int, outside: int) -> None:
    # Tables of the sign test, at 15/16: of 9 the second and the eighth contain it in 96.1 %.
    values = [float(n) for n in range(1, count + 1)]
    found = speedup(values, [1.0] * count, "GFLOP/s")
    assert (found.low, found.high) == (1 + outside, count - outside)


def test_a_framework_without_its_baseline_is_compared_with_the_first() -> None:
    far = subject("fast", "pytensor-3.3.7")
    own = subject("base", "pytensor-3.3.7", baseline=True)
    for others, reference in (([BASE, FAST], BASE), ([BASE, own], own)):
        found = [run for each in (far, *others) for run in runs(each, QUICK)]
        row = bench_rows.rows(found, [*others, far])[-1]
        assert (row.subject, row.reference) == (far.id, reference.id)


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
    assert [*rows[0].notes, *rows[1].notes] == [
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
    assert rows[1].ratio and not rows[1].ratio.significant
    assert list(bench_rows.winners(found).values()) == [(BASE.id, FAST.id)]


def test_numba_is_compared_with_c_without_a_numba_reference() -> None:
    theano, pytensor = BASE, subject("openblas", "pytensor-3.3.7")
    found = [*runs(theano, SLOW), *runs(pytensor, QUICK, name="Gemm, numba")]
    rows = bench_rows.rows(found, [theano, pytensor])
    assert rows[1].measure.name == "Gemm, numba" and rows[1].ratio
    assert rows[1].ratio.value == pytest.approx(2.5, abs=0.1)


def test_other_graphs_and_too_few_starts_are_remarks() -> None:
    def notes(found: list[Run]) -> list[str]:
        return [note for row in bench_rows.rows(found, [BASE, FAST]) for note in row.notes]

    found = [*runs(BASE, SLOW), *runs(FAST, QUICK)]
    once = [one.model_copy(update={"start": 1}) for one in found]
    title = f"Gemm, 2 threads: {FAST.id}"
    assert notes(found) == []
    assert notes(once) == [f"{title} has no interval: it takes 5 starts, and there were 1"]
    assert notes([one.model_copy(update={"workload": "check_blas"}) for one in once]) == []
    others = [*runs(BASE, SLOW, graph="a"), *runs(FAST, QUICK, graph="b")]
    assert notes(others) == [f"{title} has another graph than {BASE.id}"]


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


def test_a_result_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    found = [*runs(BASE, [0.04] * 7, unit="s"), *runs(FAST, [0.01] * 7, unit="s")]
    late = (missing(FAST), missing(FAST, 3))
    bench_rows.show(result(found, BASE, FAST, missing=late, remarks=("it was noisy",)))
    output = capsys.readouterr().out.splitlines()
    assert output[2:] == [
        "        median      quartiles  ratio  interval",
        "Gemm, 2 threads, ms",
        "  base    40.0    40.0 - 40.0",
        "  fast    10.0    10.0 - 10.0   4.00  4.00-4.00",
        "",
        "Gemm, 2 threads: fast is the fastest",
        "note: ntm, numba, 2 threads: theano-1.0.5/fast had not compiled within 300 s, 287 s of "
        "them on a processor: it has no figure; --limit gives it more time",
        "note: ntm, numba, 2 threads: theano-1.0.5/fast did not answer in round 3 within 300 s, "
        "287 s of them on a processor: it has no figure; --limit gives it more time",
        "note: it was noisy",
    ]


def test_a_table_fits_a_narrow_terminal() -> None:
    slow, fast = subject("pip-default", baseline=True), subject("openblas-amdlibm")
    long = {"name": "sigmoid float32 400x512, numba", "unit": "ns"}
    found = [*runs(slow, [1234.5] * 7, **long), *runs(fast, [12.345] * 7, **long)]
    rows = bench_rows.rows(found, [slow, fast])
    assert max(map(len, bench_rows.lines(rows))) <= 80
