"""The plots of a session, and of the article's steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stacks.bench.table import number
from stacks.publish import article, breakdown, svg
from stacks.publish.breakdown import CALLS, Breakdown, Share
from stacks.publish.sessions import Figure, ResultSession, threads
from stacks.publish.svg import Bar, Key

GEMM = re.compile(r"Gemm (float32|float64) (\d+)(, numba)?")


@dataclass(frozen=True)
class Plot:
    """A plot, what it is of, and what it says to those who do not see it."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    keys: tuple[Key, ...] = ()

    @property
    def words(self) -> str:
        """The plot in words."""
        return f"{self.title} ({self.unit}): " + "; ".join(map(self._words, self.bars))

    def _words(self, bar: Bar) -> str:
        pairs = zip(self.keys, bar.parts, strict=True)
        parts = ", ".join(f"{key.name} {number(part)}" for key, part in pairs if part)
        return f"{bar.name} {bar.text}" + (f" ({parts})" if parts else "")

    @property
    def svg(self) -> str:
        """The plot as an SVG element; every text in it is escaped."""
        return svg.draw(self.bars, self.keys)


def plots(session: ResultSession) -> list[Plot]:
    """Return a session's plots: products against the peak; compiling and calls of programs."""
    programs = [*map(_program, breakdown.compiling(session)), *map(_call, breakdown.calls(session))]
    # Each program's own side by side.
    order = list(dict.fromkeys(name for name, _ in programs))
    programs.sort(key=lambda pair: order.index(pair[0]))
    return [*_products(session), *(plot for _, plot in programs)]


def _products(session: ResultSession) -> list[Plot]:
    """Return the plots of the largest matrix on all threads, one for each precision."""
    found: dict[str, dict[tuple[int, int], list[Figure]]] = {}
    for figure in session.figures:
        measure = figure.row.measure
        match = GEMM.fullmatch(measure.name)
        if match and measure.unit == "GFLOP/s":
            key = (measure.threads, int(match[2]))
            found.setdefault(match[1], {}).setdefault(key, []).append(figure)
    return [
        _gemm(session, dtype, *max(by_size), by_size[max(by_size)])
        for dtype, by_size in sorted(found.items())
    ]


def _gemm(
    session: ResultSession, dtype: str, count: int, size: int, found: Sequence[Figure]
) -> Plot:
    peak = session.peak(dtype, count)
    several = len({figure.framework for figure in found}) > 1
    bars = []
    for figure in found:
        summary = figure.row.summary
        name = figure.row.subject if several else figure.flavour
        numba = " (numba)" if figure.row.measure.name.endswith("numba") else ""
        part = f", {summary.median / peak:.0%}" if peak else ""
        text = f"{figure.median}{part}"
        bars.append(Bar(name + numba, summary.median, text, summary.low, summary.high, "own"))
    if peak:
        text = f"{number(peak)} GFLOP/s"
        bars.append(Bar("measured peak", peak, text, peak, peak, "peak"))
    on = "" if several else f", {found[0].framework}"
    title = f"Matrix product, {dtype}, {size} x {size}, {threads(count)}{on}"
    return Plot(
        title,
        "GFLOP/s and part of the measured peak, more is better; lines are quartiles",
        tuple(bars),
    )


def _program(found: Breakdown) -> tuple[str, Plot]:
    bars = []
    for share, name in _named(found):
        compiled, called = sum(share.seconds[:-1]), share.seconds[-1]
        text = f"{number(compiled)} + {number(called)} s"
        bars.append(Bar(name, share.total, text, share.total, share.total, "own", share.seconds))
    plot = Plot(
        f"{found.program}: compiling and {CALLS} calls, {_where(found)}",
        "seconds of compiling, its C code being cached, and then of the calls; less is better",
        tuple(bars),
        _keys(found),
    )
    return found.program, plot


def _call(found: Breakdown) -> tuple[str, Plot]:
    bars = []
    for share, name in _named(found):
        whole, parts = 1e3 * share.total, tuple(1e3 * seconds for seconds in share.seconds)
        # What Python code takes is told even where it is nothing: that is what the plot is for.
        text = f"{number(whole)} ms, {found.python(share):.0%} Py"
        bars.append(Bar(name, whole, text, whole, whole, "own", parts))
    plot = Plot(
        f"{found.program}: where a call spends its time, {_where(found)}",
        "milliseconds of a call with the profile on; striped is what Python code does, or some "
        "of it",
        tuple(bars),
        _keys(found),
    )
    return found.program, plot


def _named(found: Breakdown) -> list[tuple[Share, str]]:
    several = len({share.figure.framework for share in found.shares}) > 1
    return [
        (share, share.figure.row.subject if several else share.figure.flavour)
        for share in found.shares
    ]


def _where(found: Breakdown) -> str:
    frameworks = {share.figure.framework for share in found.shares}
    on = f", {frameworks.pop()}" if len(frameworks) == 1 else ""
    return f"{threads(found.threads)}{on}"


def _keys(found: Breakdown) -> tuple[Key, ...]:
    return tuple(Key(part.name, part.python) for part in found.parts)


def of_steps(every: Sequence[article.Steps]) -> list[Plot]:
    """Return a plot for each place: the article's three steps, and below them ours."""
    places = dict.fromkeys(one.place for one in every)
    return [_steps([one for one in every if one.place == place]) for place in places]


def _steps(ours: Sequence[article.Steps]) -> Plot:
    named = [("article", "seed", article.article()), *((one.framework, "own", one) for one in ours)]
    bars = [
        Bar(f"{step.flavour} ({name})", step.part, f"{step.part:.3f}", step.low, step.high, kind)
        for name, kind, one in named
        for step in one.steps
    ]
    return Plot(
        f"A training step of a neural Turing machine: the article, and {ours[0].place}",
        "part of the time with pip-default, less is better; lines are 95% intervals",
        tuple(bars),
    )
