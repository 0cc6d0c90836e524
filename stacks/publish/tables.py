"""The plots of programs as tables."""

from __future__ import annotations

from dataclasses import dataclass

from stacks.bench.table import number
from stacks.publish import breakdown
from stacks.publish.breakdown import Breakdown, Share
from stacks.publish.sessions import ResultSession


@dataclass(frozen=True)
class Table:
    """A table; the first `texts` columns are text, the others numbers."""

    title: str
    about: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int

    def is_number(self, column: int) -> bool:
        """Say whether a column has numbers."""
        return column >= self.texts


def tables(session: ResultSession) -> list[Table]:
    """Return the tables of a session that have rows: the parts of calls, and of compilations."""
    every = (_calls(breakdown.calls(session)), _compiling(breakdown.compiling(session)))
    return [table for table in every if table.rows]


def _calls(breakdowns: list[Breakdown]) -> Table:
    return Table(
        "Where a call spends its time",
        "the classes of operations that take most of a call with the profile on, the insides of "
        "scans among them; Py is Python code, where C could be",
        ("variant", "program", "part", "ms a call", "of the call"),
        tuple(
            (_variant(share), one.program, part.name, number(1e3 * seconds), f"{of:.1%}")
            for one in breakdowns
            for share in one.shares
            for part, seconds in zip(one.parts, share.seconds, strict=True)
            # Less is invisible in the plot.
            if (of := seconds / share.total if share.total else 0.0) >= 0.001
        ),
        texts=3,
    )


def _compiling(breakdowns: list[Breakdown]) -> Table:
    # The one with the most steps gives their order.
    longest = sorted(breakdowns, key=lambda one: -len(one.parts))
    steps = list(dict.fromkeys(part.name for one in longest for part in one.parts))
    return Table(
        "Compiling and calling",
        f"seconds of compiling by its steps, its C code being cached, and of {breakdown.CALLS} "
        "calls after it",
        ("variant", "program", *steps),
        tuple(
            (_variant(share), one.program, *(_of(one, share, step) for step in steps))
            for one in breakdowns
            for share in one.shares
        ),
        texts=2,
    )


def _of(one: Breakdown, share: Share, step: str) -> str:
    """Return the seconds of a step, empty if the program has no such step."""
    parts = zip(one.parts, share.seconds, strict=True)
    return next((number(seconds) for part, seconds in parts if part.name == step), "")


def _variant(share: Share) -> str:
    return share.figure.row.subject
