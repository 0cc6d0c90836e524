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
    assert not speedup(QUICK[:4], SLOW[:4], "GFLOP/s").significant, "four rounds are too few"


def test_one_round_of_seven_that_went_wrong_hides_nothing() -> None:
    assert speedup([*QUICK[:-1], 10.0], SLOW, "GFLOP/s").significant
    assert not speedup([*QUICK[:4], 10.0], SLOW[:5], "GFLOP/s").significant


@pytest.mark.parametrize("count", [5, 7, 11])
def test_equal_samples_rarely_differ_significantly(count: int) -> None:
    chance = random.Random(1)
    message = 0
    for _ in range(50):
        a, b = ([chance.gauss(100, 5) for _ in range(count)] for _ in range(2))
        message += speedup(a, b, "GFLOP/s").significant
    # One in sixteen is due at five rounds, where all of them must agree; one in twenty is aimed at.
    assert message <= 6


def test_rounds_of_one_start_count_less_than_starts() -> None:
    # Two of four starts were lucky: eleven rounds each do not make that more certain.
    ours = [10.0] * 22 + [20.0] * 22
    theirs = [15.0 + n % 2 for n in range(44)]
    starts = [n // 11 for n in range(44)]
    alone = speedup(ours, theirs, "s")
    assert alone == speedup(ours, theirs, "s", range(44))
    grouped = speedup(ours, theirs, "s", starts)
    assert (grouped.rounds, grouped.starts) == (44, 4)
    assert (grouped.low, grouped.high) == (0.75, 1.6) and not grouped.significant
    assert grouped.high - grouped.low >= alone.high - alone.low
