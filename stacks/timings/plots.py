"""The plots of a session, and of the article's steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stacks.bench.rows import beside
from stacks.bench.table import number
from stacks.core.console import plural
from stacks.timings import article, breakdown
from stacks.timings.breakdown import CALLS, Breakdown, Share
from stacks.timings.sessions import Figure, ResultSession
from stacks.timings.svg import Bar

GEMM = re.compile(r"Gemm (float32|float64) (\d+)(, numba)?")


@dataclass(frozen=True)
class Key:
    """The name of a part, and whether it is striped."""

    name: str
    striped: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot. With keys its bars consist of parts."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    keys: tuple[Key, ...] = ()

    @property
    def words(self) -> str:
        """The plot in words."""
        return f"{self.title} ({self.unit}): " + "; ".join(
            f"{bar.name} {bar.text}" for bar in self.bars
        )

    @property
    def longest(self) -> float:
        """The length that bars are drawn in proportion to."""
        # Profiles may be of nothing that takes time.
        return max(max(bar.value, bar.high) for bar in self.bars) or 1.0

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The parts of each bar as text: its name, each part, all of them."""
        return [(bar.name, *map(number, bar.parts), bar.text) for bar in self.bars]


def plots(session: ResultSession) -> list[Plot]:
    """Return a session's plots: products and the peak, compilation and calls of programs.

    Beside busy loops, programs have no plots: they compile without the loops, and the parts of a
    call are those of the idle call, prolonged by chance.
    """
    if session.result.settings.busy:
        return products(session)
    programs = [(one.program, _compiling(one)) for one in breakdown.compiling(session)]
    programs += [(one.program, _call(one)) for one in breakdown.calls(session)]
    # The plots of one program next to each other.
    order = list(dict.fromkeys(name for name, _ in programs))
    programs.sort(key=lambda pair: order.index(pair[0]))
    return [*products(session), *(plot for _, plot in programs)]


def products(session: ResultSession) -> list[Plot]:
    """Return the plots of the largest matrix on the most threads, one for each precision.

    Without those of a device: they would leave nothing to see of the processor's.
    """
    products: dict[str, dict[tuple[int, int], list[Figure]]] = {}
    for figure in session.figures:
        measure = figure.row.measure
        match = GEMM.fullmatch(measure.name)
        on_processor = figure.row.subject not in session.on_device
        if match and measure.unit == "GFLOP/s" and on_processor:
            key = (measure.threads, int(match[2]))
            products.setdefault(match[1], {}).setdefault(key, []).append(figure)
    return [
        _gemm(session, dtype, *max(by_size), by_size[max(by_size)])
        for dtype, by_size in sorted(products.items())
    ]


def _gemm(
    session: ResultSession, dtype: str, threads: int, size: int, figures: Sequence[Figure]
) -> Plot:
    peak = session.peak(dtype, threads)
    several = len({figure.framework for figure in figures}) > 1
    bars = []
    for figure in figures:
        summary = figure.row.summary
        name = figure.row.subject if several else figure.flavour
        numba = " (numba)" if figure.row.measure.name.endswith("numba") else ""
        part = f", {summary.median / peak:.0%}" if peak else ""
        text = f"{figure.median}{part}"
        bars.append(Bar(name + numba, summary.median, text, summary.low, summary.high, "own"))
    if peak:
        text = f"{number(peak)} GFLOP/s"
        bars.append(Bar("measured peak", peak, text, peak, peak, "peak"))
    framework = "" if several else f", {figures[0].framework}"
    return Plot(
        f"Matrix product, {dtype}, {size} x {size}{beside(session.result.settings.busy)}, "
        f"{plural(threads, 'thread')}{framework}",
        "GFLOP/s and part of the measured peak, more is better; lines are quartiles",
        tuple(bars),
    )


def _compiling(whole: Breakdown) -> Plot:
    return _stacked(
        whole,
        f"compiling and {CALLS} calls",
        "seconds of compiling, its C code being cached, and then of the calls; less is better",
        1.0,
        lambda share: f"{number(sum(share.seconds[:-1]))} + {number(share.seconds[-1])} s",
    )


def _call(whole: Breakdown) -> Plot:
    return _stacked(
        whole,
        "where a call spends its time",
        "milliseconds of a call with the profile on; stripes mark Python code",
        1e3,
        # The plot is about Python code: its part is shown even if it is 0.
        lambda share: f"{number(1e3 * share.total)} ms, {whole.python(share):.0%} Py",
    )


def _stacked(
    whole: Breakdown, subject: str, unit: str, factor: float, text: Callable[[Share], str]
) -> Plot:
    """Return the plot of a breakdown; `factor` converts its seconds to the unit."""
    frameworks = {share.figure.framework for share in whole.shares}
    bars = []
    for share in whole.shares:
        name = share.figure.row.subject if len(frameworks) > 1 else share.figure.flavour
        total, parts = factor * share.total, tuple(factor * seconds for seconds in share.seconds)
        bars.append(Bar(name, total, text(share), total, total, "own", parts))
    framework = f", {frameworks.pop()}" if len(frameworks) == 1 else ""
    return Plot(
        f"{whole.program}: {subject}, {plural(whole.threads, 'thread')}{framework}",
        unit,
        tuple(bars),
        tuple(Key(part.name, part.python) for part in whole.parts),
    )


def of_steps(every: Sequence[article.Steps]) -> list[Plot]:
    """Return a plot for each source: the article's three steps, and below them ours."""
    sources = dict.fromkeys(one.source for one in every)
    return [_steps([one for one in every if one.source == source]) for source in sources]


def _steps(ours: Sequence[article.Steps]) -> Plot:
    named = [
        ("article", "article", article.article()),
        *((one.framework, "own", one) for one in ours),
    ]
    bars = [
        Bar(f"{step.flavour} ({name})", step.part, f"{step.part:.3f}", step.low, step.high, kind)
        for name, kind, one in named
        for step in one.steps
    ]
    return Plot(
        f"A training step of a neural Turing machine: the article, and {ours[0].source}",
        "part of the time with pip-default, less is better; lines are 94% intervals",
        tuple(bars),
    )
