"""The table of a machine: a row for each environment, with its newest figure of each measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.intervals import LEAST_STARTS, Ratio
from stacks.bench.result import Subject
from stacks.bench.rows import winners
from stacks.bench.table import number, scale
from stacks.timings import columns
from stacks.timings.columns import Column
from stacks.timings.figures import Figure, Session
from stacks.timings.locks import CurrentLock

# Of an image's digest.
DIGITS = 12


@dataclass(frozen=True)
class Cell:
    """A figure with its unit, and how many times as fast as the baseline it is; or nothing.

    figure: also the reason where there is none. share: of the machine's measured peak. value: what
    cells are sorted by. other_graph: the ratio is to another graph. is_older: of another lock than
    the row's newest figures.
    """

    figure: str = ""
    share: str = ""
    value: float | None = None
    ratio: Ratio | None = None
    other_graph: bool = False
    is_older: bool = False

    @property
    def times(self) -> str:
        """How many times as fast, with the interval; empty without a comparison."""
        if self.ratio is None:
            return ""
        return f"{self.ratio.value:.2f} ({interval(self.ratio)})"

    @property
    def is_difference(self) -> bool:
        """Whether it is clearly faster or slower than the baseline."""
        return self.ratio is not None and self.ratio.significant and not self.other_graph

    @property
    def is_slower(self) -> bool:
        """Whether it is clearly slower than the baseline."""
        return self.is_difference and self.ratio is not None and self.ratio.value < 1


@dataclass(frozen=True)
class Environment:
    """An environment: its download in bytes, and its cells.

    size: None without a lock in this checkout. is_current: its newest figures are of that lock.
    images: digests, shortened, of the images that figures are of.
    """

    framework: str
    flavour: str
    is_baseline: bool
    on_device: bool
    size: int | None
    cells: Mapping[Column, Cell]
    is_current: bool
    images: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """FRAMEWORK/FLAVOUR."""
        return f"{self.framework}/{self.flavour}"

    @property
    def download(self) -> str:
        """The size of its download, empty without a lock."""
        return f"{self.size / 1e6:.0f} MB" if self.size is not None else ""


@dataclass(frozen=True)
class MachineTable:
    """The rows of a machine. fastest: by framework and column, those that nothing clearly beats.

    sessions: those that figures are of, the newest first.
    """

    name: str
    cpu: str
    hardware: str
    peaks: str
    columns: tuple[Column, ...]
    rows: tuple[Environment, ...]
    fastest: Mapping[tuple[str, Column], tuple[str, ...]]
    sessions: tuple[Session, ...]

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks of the rows, each once."""
        return tuple(dict.fromkeys(row.framework for row in self.rows))

    @property
    def is_of_older_locks(self) -> bool:
        """Whether every row is of another lock than this checkout's."""
        return not any(row.is_current for row in self.rows)

    @property
    def has_older(self) -> bool:
        """Whether a figure is of another lock than its row's newest."""
        return any(cell.is_older for row in self.rows for cell in row.cells.values())


def interval(ratio: Ratio) -> str:
    """Return the interval of a ratio in few characters; the number of starts if too few."""
    if ratio.starts < LEAST_STARTS:
        return ratio.interval
    return f"{ratio.low:.2f}-{ratio.high:.2f}"


# An environment, a measure, and the busy loops beside it.
_Key = tuple[str, str, int]


@dataclass(frozen=True)
class _Newest:
    """The newest figure of an environment's measure, and its session."""

    figure: Figure
    session: Session

    @property
    def subject(self) -> Subject:
        """The environment as it was timed."""
        return self.session.subject(self.figure.row.subject)


def machine_tables(
    sessions: Sequence[Session], current: Mapping[str, CurrentLock]
) -> list[MachineTable]:
    """Return the table of each machine with figures.

    The one with the most environments of the present locks is first, then of any.

    sessions: those of `figures.sessions`, of a machine the newest first.
    """
    by_machine: dict[str, list[Session]] = {}
    for session in sessions:
        by_machine.setdefault(session.machine.name, []).append(session)
    tables = [_table(each, current) for each in by_machine.values()]
    filled = [table for table in tables if table.rows]
    return sorted(filled, key=lambda one: (-sum(r.is_current for r in one.rows), -len(one.rows)))


def _table(sessions: Sequence[Session], current: Mapping[str, CurrentLock]) -> MachineTable:
    newest = _newest(sessions)
    heads = columns.measured(
        {(measure, busy): one.figure.workload for (_, measure, busy), one in newest.items()}
    )
    subjects: dict[str, Subject] = {}
    for subject in (subject for session in sessions for subject in session.result.subjects):
        subjects.setdefault(subject.id, subject)
    missing = {
        (one.subject, one.name, session.result.settings.busy): one.cell
        for session in sessions
        for one in session.result.missing
    }
    rows = []
    for name, subject in subjects.items():
        cells = {}
        for column in heads:
            found = newest.get((name, column.measure, column.busy))
            reason = missing.get((name, column.program, column.busy), "")
            cells[column] = _cell(found, column, subject.lock) if found else Cell(reason)
        lock = current.get(name)
        row = Environment(
            subject.framework,
            subject.flavour,
            subject.baseline,
            subject.device is not None,
            lock.size if lock else None,
            cells,
            lock is not None and subject.lock == lock.sha256,
            _images(name, newest),
        )
        if any(cell.figure for cell in cells.values()):
            rows.append(row)
    # The baseline, which others are compared to, comes first.
    rows.sort(key=lambda row: (row.framework, not row.is_baseline, row.flavour))
    first = sessions[0]
    shown = {(column.measure, column.busy) for column in heads}
    used = [one.session for (_, *measure), one in newest.items() if tuple(measure) in shown]
    return MachineTable(
        first.machine.name,
        first.machine.cpu,
        first.hardware,
        first.peaks,
        tuple(heads),
        tuple(rows),
        _fastest(newest, heads),
        tuple(session for session in sessions if session in used),
    )


def _newest(sessions: Sequence[Session]) -> dict[_Key, _Newest]:
    newest: dict[_Key, _Newest] = {}
    for session in sessions:
        for figure in session.figures:
            measure = figure.row.measure
            key = figure.row.subject, measure.name, measure.busy
            known = newest.get(key)
            # An older one on more threads goes before the newest.
            if known is None or known.figure.row.measure.threads < measure.threads:
                newest[key] = _Newest(figure, session)
    return newest


def _fastest(
    newest: Mapping[_Key, _Newest], heads: Sequence[Column]
) -> dict[tuple[str, Column], tuple[str, ...]]:
    """Return the environments that none clearly beats, of the session with the most of them."""
    sessions: dict[tuple[str, Column], list[_Newest]] = {}
    for column in heads:
        for (name, measure, busy), one in newest.items():
            if (measure, busy) == (column.measure, column.busy):
                sessions.setdefault((name.partition("/")[0], column), []).append(one)
    fastest = {}
    for (framework, column), every in sessions.items():
        counts = [sum(one.session is other.session for other in every) for one in every]
        one = every[counts.index(max(counts))]
        runs = [
            run for run in one.session.result.runs if run.subject.partition("/")[0] == framework
        ]
        names = winners(runs).get(one.figure.row.measure, ())
        fastest[framework, column] = names
    return fastest


def _cell(newest: _Newest, column: Column, lock: str) -> Cell:
    figure, session, row = newest.figure, newest.session, newest.figure.row
    value, unit = row.summary.median, row.measure.unit
    if column.size:
        value, unit = 2e-9 * column.size**3 / value, "GFLOP/s"
    factor, shown = scale(value, unit)
    # The machine's peak was measured idle, and on the processor.
    has_peak = column.dtype and not column.busy and newest.subject.device is None
    peak = session.peak(column.dtype, row.measure.threads) if has_peak else None
    baselines = {each.id for each in session.result.subjects if each.baseline}
    is_own = row.subject.partition("/")[0] == row.reference.partition("/")[0]
    return Cell(
        f"{number(factor * value)} {shown}",
        f"{value / peak:.0%}" if peak else "",
        value,
        row.ratio if row.reference in baselines and is_own else None,
        figure.other_graph,
        newest.subject.lock != lock,
    )


def _images(name: str, newest: Mapping[_Key, _Newest]) -> tuple[str, ...]:
    """Return the digests of the images that an environment's figures are of, as engines show."""
    digests = {one.subject.image for (of, _, _), one in newest.items() if of == name} - {None}
    return tuple(sorted(str(each).removeprefix("sha256:")[:DIGITS] for each in digests))
