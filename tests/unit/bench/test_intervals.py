"""What may be said of samples: by hand where a hand can reckon it, and by its error rate."""

from __future__ import annotations

import random

import pytest

from stacks.bench.intervals import speedup, summary
from unit.helpers.benching import ALIKE, QUICK, SLOW


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


def test_an_interval_that_includes_one_is_inconclusive() -> None:
    assert speedup(QUICK, SLOW, "GFLOP/s").significant
    assert not speedup(QUICK, ALIKE, "GFLOP/s").significant


def test_four_starts_are_too_few_for_an_interval() -> None:
    found = speedup(QUICK[:4], SLOW[:4], "GFLOP/s")
    assert not found.significant and found.interval == "4 starts"
    assert found.low == found.value == found.high


@pytest.mark.parametrize(
    ("count", "outside"), [(5, 0), (6, 0), (7, 0), (8, 0), (9, 1), (11, 1), (12, 2), (25, 7)]
)
def test_the_interval_is_of_the_values_in_their_order(count: int, outside: int) -> None:
    # Tables of the sign test, at 15/16: of 9 the second and the eighth contain it in 96.1 %.
    values = [float(n) for n in range(1, count + 1)]
    found = speedup(values, [1.0] * count, "GFLOP/s")
    assert (found.low, found.high) == (1 + outside, count - outside)


def test_one_of_nine_that_went_wrong_hides_nothing() -> None:
    quick, slow = [*QUICK, *QUICK][:9], [*SLOW, *SLOW][:9]
    assert speedup([*quick[:-1], 10.0], slow, "GFLOP/s").significant
    assert not speedup([*quick[:7], 10.0], slow[:8], "GFLOP/s").significant


@pytest.mark.parametrize("count", [5, 7, 9, 11])
def test_equal_samples_rarely_differ_significantly(count: int) -> None:
    chance = random.Random(1)
    wrong = 0
    for _ in range(400):
        a, b = ([chance.gauss(100, 5) for _ in range(count)] for _ in range(2))
        wrong += speedup(a, b, "GFLOP/s").significant
    # One in sixteen is due, 25; three standard deviations more are chance.
    assert wrong <= 40


def test_two_starts_that_differ_show_nothing_however_many_rounds_they_have() -> None:
    chance = random.Random(2)
    starts = [n // 5 for n in range(25)]
    wrong = 0
    for _ in range(400):
        a, b = ([chance.gauss(100, 5) for _ in range(5)] for _ in range(2))
        ours, theirs = ([x[n] + chance.gauss(0, 2) for n in starts] for x in (a, b))
        wrong += speedup(ours, theirs, "s", starts).significant
        assert not speedup(ours[:10], theirs[:10], "s", starts[:10]).significant
    assert wrong <= 40


def test_rounds_of_one_start_are_one_value() -> None:
    ours = [10.0, 10, 40, 20, 20, 20, 5, 5, 5, 10, 10, 10, 20, 20, 20]
    found = speedup(ours, [10.0] * 15, "s", [n // 3 for n in range(15)])
    assert (found.rounds, found.starts) == (15, 5)
    assert (found.value, found.low, found.high) == (1, 0.5, 2)
