"""The summary as plots: for each of its measures, how many times as fast as the baselines."""

from __future__ import annotations

from dataclasses import dataclass

from stacks.timings.columns import Column
from stacks.timings.plots import Plot
from stacks.timings.summary import Cell, Summary, SummaryRow
from stacks.timings.svg import Bar


@dataclass(frozen=True)
class Overview:
    """A measure with a plot for each framework, all of one scale."""

    column: Column
    plots: tuple[Plot, ...]

    @property
    def longest(self) -> float:
        """The length that the bars of all plots are drawn in proportion to."""
        return max(plot.longest for plot in self.plots)


def overviews(summary: Summary) -> list[Overview]:
    """Return the short columns of a machine that have ratios."""
    found = [_overview(summary, column) for column in summary.short]
    return [overview for overview in found if overview.plots]


def _overview(summary: Summary, column: Column) -> Overview:
    at = summary.columns.index(column)
    by_framework: dict[str, list[Bar]] = {}
    for row in summary.rows:
        if bar := _bar(row, row.cells[at]):
            by_framework.setdefault(row.framework, []).append(bar)
    return Overview(
        column,
        tuple(
            Plot(framework, "times as fast as pip-default; lines are 94% intervals", tuple(bars))
            for framework, bars in by_framework.items()
            # A baseline alone shows nothing.
            if any(bar.kind == "own" for bar in bars)
        ),
    )


def _bar(row: SummaryRow, cell: Cell) -> Bar | None:
    """Return the bar of a cell, None if it has neither a ratio nor the baseline."""
    if row.is_baseline and cell.value is not None:
        return Bar(row.flavour, 1.0, cell.figure, 1.0, 1.0, "peak")
    if cell.times is None:
        return None
    ratio = cell.times
    times, clear, text = f"{ratio.value:.2f} times", "", cell.figure
    if ratio.significant:
        clear = times
    else:
        text = f"{times}, {text}"
    return Bar(row.flavour, ratio.value, text, ratio.low, ratio.high, "own", clear=clear)
