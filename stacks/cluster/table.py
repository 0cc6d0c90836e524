"""Tables of what several machines answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stacks.bench.result import Result
from stacks.bench.rows import Row, rows
from stacks.bench.table import display_name, number, scale
from stacks.cluster.messages import Outcome
from stacks.core.console import print_table
from stacks.environments.care.listing import gemm

DTYPES = ("float64", "float32")


def print_outcomes(outcomes: Sequence[tuple[str, Outcome]]) -> None:
    """Print a line for each variant: its worker, its verification, the speed of Gemm."""
    lines = []
    for worker, outcome in outcomes:
        report = outcome.report
        speeds = [gemm(report, dtype) if report else "" for dtype in DTYPES]
        lines.append((outcome.variant, worker, outcome.status, *speeds))
    print_table(("variant", "worker", "verified"), DTYPES, lines)
    print("\nfloat64, float32: Gemm's GFLOP/s")


def print_side_by_side(results: Mapping[str, Result]) -> None:
    """Print the medians of several machines, each with its ratio to that machine's baseline.

    Figures of two machines are never divided by each other.
    """
    by_machine = {
        name: {(row.measure, row.subject): row for row in rows(result.runs, result.subjects)}
        for name, result in results.items()
    }
    every = [row for of_machine in by_machine.values() for row in of_machine.values()]
    lines = [
        (
            f"{measure.title}, {measure.unit}",
            display_name(subject, every),
            *(_cell(of_machine.get((measure, subject))) for of_machine in by_machine.values()),
        )
        for measure, subject in dict.fromkeys((row.measure, row.subject) for row in every)
    ]
    print_table(("", ""), by_machine, lines)
    print("\nin brackets: how many times as fast as the baseline on the same machine")


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    factor, unit = scale(row.summary.median, row.measure.unit)
    median = number(row.summary.median * factor) + ("" if unit == row.measure.unit else f" {unit}")
    return f"{median} ({row.ratio.value:.2f})" if row.ratio else median
