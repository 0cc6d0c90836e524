"""Statistics of samples: medians, quartiles, ratios with intervals; how figures are shown."""

import math
import statistics
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from stacks.core.console import plural

# Fewer often agree by chance: four of two equals in one of eight times, five in one of sixteen.
LEAST_STARTS = 5
# Of an interval: what the lowest and the highest of five values have.
COVERAGE = 15 / 16
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
    """How many times as fast: the median over the starts, and its 94% interval.

    With fewer than LEAST_STARTS, low and high are the median itself.
    """

    value: float
    low: float
    high: float
    rounds: int
    starts: int

    @property
    def significant(self) -> bool:
        """Whether there is a difference: enough starts, and 1 is outside the interval."""
        return self.starts >= LEAST_STARTS and not self.low <= 1.0 <= self.high

    @property
    def interval(self) -> str:
        """The interval for people; the number of starts if they are too few for one."""
        if self.starts < LEAST_STARTS:
            return plural(self.starts, "start")
        return f"{self.low:.2f}-{self.high:.2f}"


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

    Noise in a round slows both, so the ratios of rounds are compared. The interval is that of the
    median by order statistics, which supposes nothing of their distribution (the sign test's;
    Conover, Practical Nonparametric Statistics, 1999, section 3.2).

    starts: the start of the programs that each round belongs to; each round by default. Rounds of
    one start are more alike than those of two, so the median of each start is one value.
    """
    pairs = [(a, b) if unit in RATES else (b, a) for a, b in zip(ours, theirs, strict=True)]
    by_start: dict[Hashable, list[float]] = {}
    for start, (a, b) in zip(starts or range(len(pairs)), pairs, strict=True):
        by_start.setdefault(start, []).append(a / b)
    values = sorted(statistics.median(ratios) for ratios in by_start.values())
    value, count = statistics.median(values), len(values)
    if count < LEAST_STARTS:
        return Ratio(value, value, value, len(pairs), count)
    outer = _outside(count)
    return Ratio(value, values[outer], values[-1 - outer], len(pairs), count)


def _outside(count: int) -> int:
    """Return how many values are outside of the interval at each end."""
    outer = 0
    # The median has this chance to be beyond the value inside of the outermost, at either end.
    while 2 * sum(math.comb(count, n) for n in range(outer + 2)) / 2**count <= 1 - COVERAGE:
        outer += 1
    return outer


def figure(value: float, unit: str) -> str:
    """Return a figure with the unit that suits its size."""
    factor, shown = scale(value, unit)
    return f"{number(factor * value)} {shown}"


def scale(value: float, unit: str) -> tuple[float, str]:
    """Return the factor and the unit to show figures of about this size with."""
    if unit == "s" and value < 1:
        return (1e3, "ms") if value >= 1e-3 else (1e6, "us")
    return 1.0, unit


def number(value: float) -> str:
    """Return a figure with three significant digits."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"
