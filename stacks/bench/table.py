"""A result as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from stacks.bench.result import Missing, Result
from stacks.bench.rows import Measure, Row, rows, unlike, winners


def show(result: Result) -> None:
    """Print a result: its machine, a line for each figure, who is the fastest, what to know."""
    machine = result.machine
    print(
        f"{machine.name}: {machine.cpu}, {machine.cores} cores; {result.settings.rounds} rounds, "
        f"begun {result.began}\n"
    )
    found = rows(result.runs, result.subjects)
    for line in [*lines(found), ""]:
        print(line)
    for measure, names in winners(result.runs).items():
        print(sentence(measure, [display_name(name, found) for name in names]))
    for remark in [*silent(result.missing), *unlike(found), *result.remarks]:
        print(f"note: {remark}")


def sentence(measure: Measure, names: Sequence[str]) -> str:
    """Say who is the fastest, or that the rounds do not tell."""
    if len(names) > 1:
        return (
            f"{measure.told}: no one is the fastest: {', '.join(names)} differ by no more than "
            "the noise"
        )
    return f"{measure.told}: {names[0]} is the fastest"


def silent(missing: Sequence[Missing]) -> list[str]:
    """Say what did not answer in time."""
    return [
        f"{one.name}, {one.threads} thread{'' if one.threads == 1 else 's'}: {one.subject} "
        f"{one.told}; --limit gives it more time"
        for one in missing
    ]


def display_name(subject: str, found: Sequence[Row]) -> str:
    """Return a variant's name: with its framework only where there are several."""
    frameworks = {row.subject.partition("/")[0] for row in found}
    return subject if len(frameworks) > 1 else subject.partition("/")[2]


def lines(found: Sequence[Row]) -> list[str]:
    """Return a heading for each measure and a line for each variant, for 80 columns."""
    width = max(len(display_name(row.subject, found)) for row in found)
    said = [f"  {'':{width}}  {'median':>6}  {'quartiles':>13}  {'ratio':>5}  interval"]
    before = None
    for row in found:
        factor, unit = scale(row.summary.median, row.measure.unit)
        if row.measure != before:
            said.append(f"{row.measure.told}, {unit}")
            before, of_measure = row.measure, factor
        figures = row.summary
        median, low, high = (
            number(value * of_measure) for value in (figures.median, figures.low, figures.high)
        )
        ratio = row.ratio
        said.append(
            f"  {display_name(row.subject, found):{width}}  {median:>6}  {f'{low} - {high}':>13}"
            + (f"  {ratio.value:5.2f}  {ratio.low:.2f} - {ratio.high:.2f}" if ratio else "")
        )
    return said


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
