"""Plots of a session, as SVG that takes its colours from the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Tree

import pygal
from pygal.style import Style

from stacks.bench.show import number
from stacks.publish import seed
from stacks.publish.sessions import Figure, Session, threads

# Little more than a telephone's, so that the letters can be read there.
WIDTH = 420
HEIGHT_OF_BAR = 40
HEIGHT_OF_AXIS = 50
LONGEST_NAME = 36
# What room names are given; the page's own letters are a little smaller.
FONT = 13
CALLS = 100
GEMM = re.compile(r"Gemm (float32|float64) (\d+)(, numba)?")
# Left out of what is drawn: styles and scripts are the page's own, the rest is for its scripts.
GEOMETRY = {"x", "y", "width", "height", "d", "transform"}
# More than a tenth of a point is not seen.
DIGITS = re.compile(r"(?<=\.\d)\d+")
LEFT_OUT = ("comment", "style", "script", "desc", "defs", "title")


@dataclass(frozen=True)
class Bar:
    """A bar: its name, its length, what is written on it, its interval, what kind it is of.

    `first` is how much of the length is set off as a part before the rest.
    """

    name: str
    value: float
    text: str
    low: float
    high: float
    kind: str
    first: float = 0.0


@dataclass(frozen=True)
class Plot:
    """A plot, what it is of, and what it says to those who do not see it."""

    title: str
    unit: str
    bars: tuple[Bar, ...]

    @property
    def words(self) -> str:
        """The plot in words."""
        return f"{self.title} ({self.unit}): " + "; ".join(
            f"{bar.name} {bar.text}" for bar in self.bars
        )

    @property
    def svg(self) -> str:
        """The plot as an SVG element; every text in it is escaped."""
        return _svg(self.bars)


def plots(session: Session) -> list[Plot]:
    """Return a session's plots: products against the peak; compiling and calls of programs."""
    return [*_products(session), *_programs(session)]


def _products(session: Session) -> list[Plot]:
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


def _gemm(session: Session, dtype: str, count: int, size: int, found: Sequence[Figure]) -> Plot:
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


def _programs(session: Session) -> list[Plot]:
    """Return a plot for each program whose compiling was timed, on all threads."""
    found: dict[str, dict[int, list[Figure]]] = {}
    for figure in session.figures:
        measure = figure.row.measure
        if figure.compile is not None and measure.unit == "s":
            found.setdefault(measure.name, {}).setdefault(measure.threads, []).append(figure)
    return [_program(name, max(by), by[max(by)]) for name, by in found.items()]


def _program(name: str, count: int, found: Sequence[Figure]) -> Plot:
    several = len({figure.framework for figure in found}) > 1
    bars = []
    for figure in found:
        compiled, calls = figure.compile or 0.0, CALLS * figure.row.summary.median
        both = compiled + calls
        text = f"{number(compiled)} + {number(calls)} s"
        who = figure.row.subject if several else figure.flavour
        bars.append(Bar(who, both, text, both, both, "own", first=compiled))
    on = "" if several else f", {found[0].framework}"
    return Plot(
        f"{name}: compiling and {CALLS} calls, {threads(count)}{on}",
        "seconds of compiling, its C code being cached, and then of the calls; less is better",
        tuple(bars),
    )


def of_steps(every: Sequence[seed.Steps]) -> list[Plot]:
    """Return a plot for each place: the article's three steps, and below them ours."""
    places = dict.fromkeys(one.place for one in every)
    return [_steps([one for one in every if one.place == place]) for place in places]


def _steps(ours: Sequence[seed.Steps]) -> Plot:
    named = [("article", "seed", seed.article()), *((one.framework, "own", one) for one in ours)]
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


def _svg(bars: Sequence[Bar]) -> str:
    parts = any(bar.first for bar in bars)
    chart = (pygal.HorizontalStackedBar if parts else pygal.HorizontalBar)(
        js=[],
        width=WIDTH,
        height=HEIGHT_OF_AXIS + HEIGHT_OF_BAR * len(bars),
        margin=8,
        range=(0, 1.08 * max(bar.high for bar in bars)),
        show_legend=False,
        print_values=True,
        print_values_position="bottom",
        truncate_label=LONGEST_NAME,
        style=Style(label_font_size=FONT, major_label_font_size=FONT),
        max_scale=6,
    )
    # It draws from below.
    turned = list(reversed(bars))
    chart.x_labels = [bar.name for bar in turned]
    if parts:
        chart.add("", [_value(bar, bar.first, bar.text) for bar in turned])
        chart.add("", [_value(bar, bar.value - bar.first, "") for bar in turned])
    else:
        chart.add("", [_value(bar, bar.value, bar.text) for bar in turned])
    root = chart.render_tree()
    # It is a random one.
    del root.attrib["id"]
    for parent in root.iter():
        for child in list(parent):
            if not _is_drawn(child):
                parent.remove(child)
    # Whoever does not see it reads its words.
    root.set("aria-hidden", "true")
    for element in root.iter():
        for name in GEOMETRY.intersection(element.keys()):
            element.set(name, DIGITS.sub("", element.attrib[name]))
    return Tree.tostring(root, encoding="unicode")


def _value(bar: Bar, value: float, text: str) -> dict[str, object]:
    shown = {"value": value, "formatter": lambda _: text, "node": {"class": bar.kind}}
    if bar.low < bar.high:
        shown["ci"] = {"low": bar.low, "high": bar.high}
    return shown


def _is_drawn(element: Tree.Element) -> bool:
    # A comment has a function for its tag.
    name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
    return name not in LEFT_OUT and "tooltip-overlay" not in element.get("class", "")
