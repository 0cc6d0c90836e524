"""A result as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from stacks.bench.result import Result
from stacks.bench.rows import Measure, Row, graph_notes, rows, winners
from stacks.core.console import plural


def show(result: Result) -> None:
    """Print a result: its machine, a line for each figure, the fastest variants, notes."""
    machine = result.machine
    print(
        f"{machine.name}: {machine.cpu}, {machine.cores} cores; {result.settings.rounds} rounds, "
        f"begun {result.began}\n"
    )
    measured = rows(result.runs, result.subjects)
    for line in [*lines(measured), "", *winner_sentences(result, measured)]:
        print(line)
    for note in notes(result, measured):
        print(f"note: {note}")


def winner_sentences(result: Result, measured: Sequence[Row]) -> list[str]:
    """Return a sentence for each measure that several variants have."""
    return [
        winner_sentence(measure, [display_name(name, measured) for name in names])
        for measure, names in winners(result.runs).items()
    ]


def winner_sentence(measure: Measure, names: Sequence[str]) -> str:
    """Return a sentence that names the fastest, or those that differ only by noise."""
    if len(names) > 1:
        return f"{measure.title}: no clear winner: {', '.join(names)} differ only by noise"
    return f"{measure.title}: {names[0]} is the fastest"


def notes(result: Result, measured: Sequence[Row]) -> list[str]:
    """Return what a reader must know: timeouts, different graphs, the result's remarks."""
    missing = [
        f"{one.name}, {plural(one.threads, 'thread')}: {one.subject} {one.reason}"
        + ("" if one.failure else "; --limit gives it more time")
        for one in result.missing
    ]
    return [*missing, *graph_notes(measured), *result.remarks]


def display_name(subject: str, measured: Sequence[Row]) -> str:
    """Return a variant's name, with its framework if the rows have several."""
    frameworks = {row.subject.partition("/")[0] for row in measured}
    return subject if len(frameworks) > 1 else subject.partition("/")[2]


def lines(measured: Sequence[Row]) -> list[str]:
    """Return a heading for each measure and a line for each variant, for 80 columns."""
    width = max(len(display_name(row.subject, measured)) for row in measured)
    table = [f"  {'':{width}}  {'median':>6}  {'quartiles':>13}  {'ratio':>5}  interval"]
    last = None
    for row in measured:
        factor, unit = scale(row.summary.median, row.measure.unit)
        if row.measure != last:
            table.append(f"{row.measure.title}, {unit}")
            last, of_measure = row.measure, factor
        figures = row.summary
        median, low, high = (
            number(value * of_measure) for value in (figures.median, figures.low, figures.high)
        )
        ratio = row.ratio
        table.append(
            f"  {display_name(row.subject, measured):{width}}  {median:>6}  {f'{low} - {high}':>13}"
            + (f"  {ratio.value:5.2f}  {ratio.interval}" if ratio else "")
        )
    return table


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
