"""What the machines found, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from stacks.bench.result import Result
from stacks.bench.rows import Row, rows
from stacks.bench.table import display_name, number, scale
from stacks.cluster.messages import Outcome
from stacks.environments.listing import gemm


def outcomes(found: Sequence[tuple[str, Outcome]]) -> None:
    """Print a line for each variant: which worker, how its verification went, how fast Gemm is."""
    table = _table("variant", "worker", "verified")
    for name in ("float64", "float32"):
        table.add_column(name, justify="right")
    for worker, outcome in found:
        report = outcome.report
        speeds = [gemm(report, dtype) if report else "" for dtype in ("float64", "float32")]
        table.add_row(outcome.variant, worker, outcome.status, *speeds)
    _print(table)
    print("\nfloat64, float32: Gemm's GFLOP/s")


def beside(found: Mapping[str, Result]) -> None:
    """Print the medians of several machines, each with the ratio to the baseline on that machine.

    Figures of two machines are never divided by each other.
    """
    by_machine = {
        name: {(row.measure, row.subject): row for row in rows(result.runs, result.subjects)}
        for name, result in found.items()
    }
    every = [row for of_machine in by_machine.values() for row in of_machine.values()]
    table = _table("", "")
    for name in by_machine:
        table.add_column(name, justify="right")
    for measure, subject in dict.fromkeys((row.measure, row.subject) for row in every):
        cells = [_cell(of_machine.get((measure, subject))) for of_machine in by_machine.values()]
        table.add_row(f"{measure.told}, {measure.unit}", display_name(subject, every), *cells)
    _print(table)
    print("\nin brackets: how many times as fast as the baseline on the same machine")


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    factor, unit = scale(row.summary.median, row.measure.unit)
    median = number(row.summary.median * factor) + ("" if unit == row.measure.unit else f" {unit}")
    return f"{median} ({row.ratio.value:.2f})" if row.ratio else median


def _table(*names: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(name)
    return table


def _print(table: Table) -> None:
    # A pipe has no width: a long line is better there than a cut one.
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)
