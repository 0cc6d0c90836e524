"""What samples say, and what they do not: medians, quartiles, intervals, who is faster."""

from __future__ import annotations

import random
import statistics
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

# Fewer rounds that all agree are no surprise: of equals, one in eight of four rounds does.
LEAST_ROUNDS = 5
# The interval holds what it estimates in 95 of 100 runs.
TAIL = 0.025
RESAMPLES = 2000
# The same samples give the same interval, today and in the table of next year.
SEED = 20170923
# Of units in which more is better; of seconds, less is.
RATES = ("GFLOP/s",)


@dataclass(frozen=True)
class Summary:
    """The median of samples and their quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratio:
    """How many times as fast: the median over the rounds, and the interval that it lies in.

    `rounds` and `starts` are how many it was found from.
    """

    value: float
    low: float
    high: float
    rounds: int
    starts: int = 0

    @property
    def told(self) -> bool:
        """Whether the two are told apart at all: by enough rounds, and 1 is not in the interval."""
        return self.rounds >= LEAST_ROUNDS and not self.low <= 1.0 <= self.high


def summary(samples: Sequence[float]) -> Summary:
    """Return the median and the quartiles of at least one sample."""
    median = statistics.median(samples)
    if len(samples) == 1:
        return Summary(median, median, median)
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Summary(median, low, high)


def speedup(
    ours: Sequence[float],
    theirs: Sequence[float],
    unit: str,
    starts: Sequence[Hashable] | None = None,
) -> Ratio:
    """Return how many times as fast `ours` is as `theirs`, from their values in the same rounds.

    A round is one pair: what was slow in it was slow for both, so that it is the pairs' ratios
    that are resampled, never one side alone. `starts` tells which start of the programs each
    round is of: starts are drawn first, and rounds of each, because rounds of one start are more
    alike than those of two. Without it each round is a start.
    """
    pairs = [(a, b) if unit in RATES else (b, a) for a, b in zip(ours, theirs, strict=True)]
    ratios = [a / b for a, b in pairs]
    by_start: dict[Hashable, list[float]] = {}
    for start, ratio in zip(starts or range(len(ratios)), ratios, strict=True):
        by_start.setdefault(start, []).append(ratio)
    chance = random.Random(SEED)  # noqa: S311 - the same numbers every time are what is wanted
    medians = sorted(
        statistics.median(_drawn(chance, list(by_start.values()))) for _ in range(RESAMPLES)
    )
    at = int(TAIL * RESAMPLES)
    return Ratio(
        statistics.median(ratios), medians[at], medians[-1 - at], len(ratios), len(by_start)
    )


def _drawn(chance: random.Random, by_start: list[list[float]]) -> list[float]:
    found: list[float] = []
    for ratios in chance.choices(by_start, k=len(by_start)):
        found += chance.choices(ratios, k=len(ratios)) if len(ratios) > 1 else ratios
    return found
