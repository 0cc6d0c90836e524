"""A result as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from stacks.bench.compare import Measure, Row, rows, unlike, winners
from stacks.bench.results import Result


def show(result: Result) -> None:
    """Print a result: its machine, a line for each figure, who is the fastest, what to know."""
    machine = result.machine
    console = printer()
    console.print(
        f"{machine.name}: {machine.cpu}, {machine.cores} cores; {result.settings.rounds} rounds, "
        f"begun {result.began}\n"
    )
    found = rows(result.runs, result.subjects)
    console.print(table(found))
    console.print()
    for measure, names in winners(result.runs).items():
        console.print(sentence(measure, [shown(name, found) for name in names]))
    for remark in [*unlike(found), *result.remarks]:
        console.print(f"note: {remark}")


def printer() -> Console:
    """Return a console for tables; a pipe has no width, and long lines are better than cut ones."""
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 200
    return console


def sentence(measure: Measure, names: Sequence[str]) -> str:
    """Say who is the fastest, or that the rounds do not tell."""
    if len(names) > 1:
        return (
            f"{measure.told}: no one is the fastest: {', '.join(names)} differ by no more than "
            "the noise"
        )
    return f"{measure.told}: {names[0]} is the fastest"


def shown(subject: str, found: Sequence[Row]) -> str:
    """Return a variant's name: with its framework only where there are several."""
    frameworks = {row.subject.partition("/")[0] for row in found}
    return subject if len(frameworks) > 1 else subject.partition("/")[2]


def table(found: Sequence[Row]) -> Table:
    """Return a line for each figure."""
    lines = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("measure", "variant"):
        lines.add_column(name, no_wrap=True)
    for name in ("threads", "median", "", "quartiles", "times as fast", "interval"):
        lines.add_column(name, justify="left" if not name else "right", no_wrap=True)
    before = None
    for row in found:
        factor, unit = scale(row.summary.median, row.measure.unit)
        median, low, high = (
            number(value * factor)
            for value in (row.summary.median, row.summary.low, row.summary.high)
        )
        lines.add_row(
            "" if row.measure == before else row.measure.name,
            shown(row.subject, found),
            str(row.measure.threads),
            median,
            unit,
            f"{low} - {high}",
            f"{row.ratio.value:.2f}" if row.ratio else "",
            f"{row.ratio.low:.2f} - {row.ratio.high:.2f}" if row.ratio else "",
        )
        before = row.measure
    return lines


def scale(value: float, unit: str) -> tuple[float, str]:
    """Return what to multiply figures of about this size with, and the unit that they then have."""
    if unit == "s" and value < 1:
        return (1e3, "ms") if value >= 1e-3 else (1e6, "us")
    return 1.0, unit


def number(value: float) -> str:
    """Return a figure with three digits that mean something."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"
