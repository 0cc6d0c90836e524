"""One row for each environment on a machine: its newest figure of each measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.intervals import Ratio
from stacks.bench.result import Subject
from stacks.bench.rows import Row
from stacks.core.console import plural
from stacks.timings import columns
from stacks.timings.columns import Column
from stacks.timings.current import CurrentLock
from stacks.timings.sessions import Figure, ResultSession

# {package: name of the BLAS library}
LIBRARIES = {"libopenblas": "OpenBLAS", "mkl": "MKL", "libblis": "BLIS"}
NONE = "NumPy's own"
# Of an image's digest.
DIGITS = 12


@dataclass(frozen=True)
class Cell:
    """A figure with its unit, and how many times as fast as the baseline it is; or nothing.

    value: what cells are sorted by. times: the ratio, unless it is to another graph. is_older: of
    another lock than the row's newest figures.
    """

    figure: str = ""
    ratio: str = ""
    value: float | None = None
    times: Ratio | None = None
    is_older: bool = False

    @property
    def is_difference(self) -> bool:
        """Whether it is clearly faster or slower than the baseline."""
        return self.times is not None and self.times.significant


@dataclass(frozen=True)
class SummaryRow:
    """An environment: what computes its matrix products, its download in MB, its cells.

    is_current: its newest figures are of its lock in this checkout. images: digests, shortened, of
    the images that figures are of.
    """

    framework: str
    flavour: str
    is_baseline: bool
    blas: str
    size: str
    cells: tuple[Cell, ...]
    is_current: bool
    images: tuple[str, ...] = ()

    @property
    def environment(self) -> str:
        """FRAMEWORK/FLAVOUR."""
        return f"{self.framework}/{self.flavour}"


@dataclass(frozen=True)
class Summary:
    """The rows of a machine; `columns` are those of the cells, the short table's first."""

    machine: str
    hardware: str
    peaks: str
    columns: tuple[Column, ...]
    rows: tuple[SummaryRow, ...]

    @property
    def short(self) -> tuple[Column, ...]:
        """The columns that give a reader the answer."""
        return tuple(columns.short(self.columns))

    @property
    def has_older(self) -> bool:
        """Whether a figure is of another lock than its row's newest."""
        return any(cell.is_older for row in self.rows for cell in row.cells)


# An environment, a measure, and the busy loops beside it.
_Key = tuple[str, str, int]


@dataclass(frozen=True)
class _Newest:
    """The newest figure of an environment's measure, and its session."""

    figure: Figure
    session: ResultSession

    @property
    def lock(self) -> str:
        """The lock that the figure is of."""
        return _subject(self.session, self.figure.row.subject).lock


def summaries(
    sessions: Sequence[ResultSession], current: Mapping[str, CurrentLock]
) -> list[Summary]:
    """Return a summary of each machine with figures.

    The one with the most environments of the present locks is first, then of any.

    sessions: those of `sessions.sessions`, of a machine the newest first.
    """
    by_machine: dict[str, list[ResultSession]] = {}
    for session in sessions:
        by_machine.setdefault(session.machine.name, []).append(session)
    every = [_summary(each, current) for each in by_machine.values()]
    found = [one for one in every if one.rows]
    return sorted(found, key=lambda one: (-sum(r.is_current for r in one.rows), -len(one.rows)))


def headline(summaries: Sequence[Summary]) -> str:
    """Return the sentence of what the largest gain over a baseline is; empty without one.

    Beside busy loops the baseline may be slow by chance, so only figures of idle machines count.
    """
    found = [
        (cell.times.value, cell, column, row, summary)
        for summary in summaries
        for row in summary.rows
        for column, cell in zip(summary.columns, row.cells, strict=True)
        if cell.times and cell.is_difference and cell.times.value > 1 and not column.busy
    ]
    if not found:
        return ""
    _, cell, column, row, summary = max(found, key=lambda each: each[0])
    return (
        f"Largest gain: {column.head} is {cell.ratio} times as fast with {row.environment} as "
        f"with pip's packages alone ({row.framework}/pip-default), on {summary.machine}."
    )


def outdated(summaries: Sequence[Summary], current: Mapping[str, CurrentLock]) -> list[str]:
    """Return the environments of this checkout that no machine has timed with the present lock.

    Another machine's row may stay old: the machine may be gone.
    """
    rows = [row for summary in summaries for row in summary.rows if row.environment in current]
    timed = {row.environment for row in rows if row.is_current}
    return sorted({row.environment for row in rows} - timed)


def counted(summary: Summary) -> str:
    """Return a machine's name and its number of environments."""
    return f"{summary.machine}: {plural(len(summary.rows), 'environment')}"


def _summary(sessions: Sequence[ResultSession], current: Mapping[str, CurrentLock]) -> Summary:
    newest: dict[_Key, _Newest] = {}
    subjects: dict[str, Subject] = {}
    missing = {
        (one.subject, one.name, each.result.settings.busy): one.cell
        for each in sessions
        for one in each.result.missing
    }
    for session in sessions:
        for subject in session.result.subjects:
            subjects.setdefault(subject.id, subject)
        for figure in session.figures:
            measure = figure.row.measure
            key = figure.row.subject, measure.name, measure.busy
            known = newest.get(key)
            # An older one on more threads goes before the newest.
            if known is None or known.figure.row.measure.threads < measure.threads:
                newest[key] = _Newest(figure, session)
    measured = columns.measured(
        {(measure, busy): one.figure.workload for (_, measure, busy), one in newest.items()}
    )
    answers = columns.short(measured)
    heads = [*answers, *(each for each in measured if each not in answers)]
    rows = [
        SummaryRow(
            subject.framework,
            subject.flavour,
            subject.baseline,
            ", ".join(LIBRARIES[p.name] for p in subject.packages if p.name in LIBRARIES) or NONE,
            f"{current[name].size / 1e6:.0f} MB" if name in current else "",
            tuple(
                _cell(
                    newest.get((name, each.measure, each.busy)),
                    each,
                    subject.lock,
                    missing.get((name, each.program, each.busy), ""),
                )
                for each in heads
            ),
            name in current and subject.lock == current[name].sha256,
            _images(name, newest),
        )
        for name, subject in subjects.items()
    ]
    # The baseline, which others are compared to, comes first.
    rows.sort(key=lambda row: (row.framework, not row.is_baseline, row.flavour))
    first = sessions[0]
    return Summary(
        first.machine.name,
        first.hardware,
        first.peaks,
        tuple(heads),
        tuple(row for row in rows if any(cell.figure for cell in row.cells)),
    )


def _images(name: str, newest: Mapping[_Key, _Newest]) -> tuple[str, ...]:
    """Return the digests of the images that an environment's figures are of, as engines show."""
    sessions = [one.session for (of, _, _), one in newest.items() if of == name]
    digests = {_subject(session, name).image for session in sessions} - {None}
    return tuple(sorted(str(each).removeprefix("sha256:")[:DIGITS] for each in digests))


def _cell(newest: _Newest | None, column: Column, lock: str, without: str) -> Cell:
    if newest is None:
        return Cell(without)
    figure, row = newest.figure, newest.figure.row
    text, is_older = column.text(figure, newest.session), newest.lock != lock
    baselines = {each.id for each in newest.session.result.subjects if each.baseline}
    if row.ratio is None or row.reference not in baselines or not _is_own(row):
        return Cell(text, value=row.summary.median, is_older=is_older)
    ratio = f"{figure.ratio}, another graph" if figure.other_graph else figure.ratio
    times = None if figure.other_graph else row.ratio
    return Cell(text, ratio, row.summary.median, times, is_older)


def _is_own(row: Row) -> bool:
    """Whether a ratio is to a variant of the same framework."""
    return row.subject.partition("/")[0] == row.reference.partition("/")[0]


def _subject(session: ResultSession, name: str) -> Subject:
    return next(each for each in session.result.subjects if each.id == name)
