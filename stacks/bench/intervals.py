"""Statistics of samples: medians, quartiles, ratios with intervals."""

from __future__ import annotations

import random
import statistics
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

# Fewer rounds often agree by chance: of two equals, in one of eight runs of four rounds.
LEAST_ROUNDS = 5
# On each side, for 95% intervals.
TAIL = 0.025
RESAMPLES = 2000
# Fixed, so that the same samples always give the same interval.
SEED = 20170923
# Units in which more is better; in others less is.
RATES = ("GFLOP/s",)


@dataclass(frozen=True)
class Summary:
    """The median of samples and their quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratio:
    """How many times as fast: the median over the rounds, and its 95% interval."""

    value: float
    low: float
    high: float
    rounds: int
    starts: int = 0

    @property
    def significant(self) -> bool:
        """Whether there is a difference: enough rounds, and 1 is outside the interval."""
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

    The interval is a percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 13). Noise in a round slows both, so the ratios of rounds are resampled.

    starts: the start of the programs that each round belongs to; each round by default. Rounds of
    one start are more alike than those of two, so starts are resampled first, then their rounds.
    """
    pairs = [(a, b) if unit in RATES else (b, a) for a, b in zip(ours, theirs, strict=True)]
    ratios = [a / b for a, b in pairs]
    by_start: dict[Hashable, list[float]] = {}
    for start, ratio in zip(starts or range(len(ratios)), ratios, strict=True):
        by_start.setdefault(start, []).append(ratio)
    chance = random.Random(SEED)  # noqa: S311 - not for security
    medians = sorted(
        statistics.median(_drawn(chance, list(by_start.values()))) for _ in range(RESAMPLES)
    )
    at = int(TAIL * RESAMPLES)
    return Ratio(
        statistics.median(ratios), medians[at], medians[-1 - at], len(ratios), len(by_start)
    )


def _drawn(chance: random.Random, by_start: list[list[float]]) -> list[float]:
    sample: list[float] = []
    for ratios in chance.choices(by_start, k=len(by_start)):
        sample += chance.choices(ratios, k=len(ratios)) if len(ratios) > 1 else ratios
    return sample
