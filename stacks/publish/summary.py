"""One row for each environment on a machine: its newest figure of each measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.result import Subject
from stacks.bench.rows import Row, beside
from stacks.publish.current import CurrentLock
from stacks.publish.sessions import NO_ANSWER, Figure, ResultSession

# (head, measure, precision of the peak that a figure is a share of)
COLUMNS = (
    ("Gemm 2000, float64", "Gemm float64 2000", "float64"),
    ("Gemm 2000, float32", "Gemm float32 2000", "float32"),
    ("check_blas 2000", "check_blas 2000", ""),
    ("check_blas 5000", "check_blas 5000", ""),
    ("exp", "exp float32 400x512", ""),
    ("tanh", "tanh float32 400x512", ""),
    ("logreg", "logreg step", ""),
    ("MLP", "mlp step", ""),
    ("LeNet", "lenet step", ""),
    ("LSTM", "lstm merged", ""),
    ("LSTM, tutorial", "lstm tutorial", ""),
    ("ntm", "ntm step", ""),
)
# {package: name of the BLAS library}
LIBRARIES = {"libopenblas": "OpenBLAS", "mkl": "MKL", "libblis": "BLIS"}
NONE = "NumPy's own"
# Of an image's digest.
DIGITS = 12


@dataclass(frozen=True)
class Cell:
    """A figure with its unit, and how many times as fast as the baseline it is; or nothing."""

    figure: str = ""
    ratio: str = ""
    is_difference: bool = False
    is_idle: bool = True


@dataclass(frozen=True)
class SummaryRow:
    """An environment: what computes its matrix products, its download in MB, its cells.

    is_current: all its figures are of its lock in this checkout. images: digests, shortened, of the
    images that figures are of.
    """

    environment: str
    blas: str
    size: str
    cells: tuple[Cell, ...]
    is_current: bool
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """The rows of a machine; `heads` are those of the cells."""

    machine: str
    hardware: str
    peaks: str
    heads: tuple[str, ...]
    rows: tuple[SummaryRow, ...]


@dataclass(frozen=True)
class _Column:
    """A measure idle or beside busy loops, and the precision of the peak that it is a share of."""

    head: str
    measure: str
    busy: int
    dtype: str


# An environment, a measure, and the busy loops beside it.
_Key = tuple[str, str, int]


@dataclass(frozen=True)
class _Newest:
    """The newest figure of an environment's measure, and its session."""

    figure: Figure
    session: ResultSession


def summaries(
    sessions: Sequence[ResultSession], current: Mapping[str, CurrentLock]
) -> list[Summary]:
    """Return a summary of each machine, in the order of the sessions.

    sessions: those of `sessions.sessions`, of a machine the newest first.
    """
    by_machine: dict[str, list[ResultSession]] = {}
    for session in sessions:
        by_machine.setdefault(session.machine.name, []).append(session)
    return [_summary(every, current) for every in by_machine.values()]


def headline(summaries: Sequence[Summary]) -> str:
    """Return the sentence of what the largest difference to a baseline is; empty without one.

    Beside busy loops the baseline may be slow by chance, so only figures of idle machines count.
    """
    found = [
        (cell, head, row, summary)
        for summary in summaries
        for row in summary.rows
        for head, cell in zip(summary.heads, row.cells, strict=True)
        if cell.is_difference and cell.is_idle
    ]
    if not found:
        return ""
    cell, head, row, summary = max(found, key=lambda each: float(each[0].ratio.split()[0]))
    framework = row.environment.partition("/")[0]
    return (
        f"{head} with {row.environment}: {cell.ratio} times as fast as with pip's packages alone "
        f"({framework}/pip-default), on {summary.machine}."
    )


def outdated(summaries: Sequence[Summary], current: Mapping[str, CurrentLock]) -> list[str]:
    """Return the environments of this checkout that have a figure of an older lock."""
    rows = [row for summary in summaries for row in summary.rows]
    return sorted({row.environment for row in rows if not row.is_current} & set(current))


def _summary(sessions: Sequence[ResultSession], current: Mapping[str, CurrentLock]) -> Summary:
    newest: dict[_Key, _Newest] = {}
    subjects: dict[str, Subject] = {}
    missing = {
        (one.subject, one.name, each.result.settings.busy)
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
            # Of one session, the figure on the most threads.
            if known is None or (
                known.session is session and known.figure.row.measure.threads < measure.threads
            ):
                newest[key] = _Newest(figure, session)
    columns = [
        # The machine's peak was measured idle.
        _Column(head + beside(busy), name, busy, "" if busy else dtype)
        for head, name, dtype in COLUMNS
        for busy in sorted({busy for _, measure, busy in newest if measure == name})
    ]
    rows = [
        SummaryRow(
            name,
            ", ".join(LIBRARIES[p.name] for p in subject.packages if p.name in LIBRARIES) or NONE,
            f"{current[name].size / 1e6:.0f} MB" if name in current else "",
            tuple(
                _cell(
                    newest.get((name, each.measure, each.busy)),
                    each.dtype,
                    (name, each.measure.split()[0], each.busy) in missing,
                )
                for each in columns
            ),
            name in current
            and {each.lock for each in _subjects(name, columns, newest)} <= {current[name].sha256},
            _images(_subjects(name, columns, newest)),
        )
        for name, subject in sorted(subjects.items())
    ]
    first = sessions[0]
    return Summary(
        first.machine.name,
        first.hardware,
        first.peaks,
        tuple(each.head for each in columns),
        tuple(row for row in rows if any(cell.figure for cell in row.cells)),
    )


def _subjects(
    name: str, columns: Sequence[_Column], newest: Mapping[_Key, _Newest]
) -> list[Subject]:
    """Return what an environment's figures are of, in each of their results."""
    keys = [(name, each.measure, each.busy) for each in columns]
    results = [newest[key].session.result for key in keys if key in newest]
    return [each for result in results for each in result.subjects if each.id == name]


def _images(subjects: Sequence[Subject]) -> tuple[str, ...]:
    """Return the digests of the subjects' images as engines show them."""
    digests = {each.image for each in subjects if each.image}
    return tuple(sorted(digest.removeprefix("sha256:")[:DIGITS] for digest in digests))


def _cell(newest: _Newest | None, dtype: str, is_missing: bool) -> Cell:
    if newest is None:
        return Cell(NO_ANSWER if is_missing else "")
    row, figure = newest.figure.row, newest.figure.median
    peak = newest.session.peak(dtype, row.measure.threads) if dtype else None
    if peak:
        figure += f", {row.summary.median / peak:.0%}"
    baselines = {each.id for each in newest.session.result.subjects if each.baseline}
    if row.ratio is None or row.reference not in baselines or not _is_own(row):
        return Cell(figure)
    if newest.figure.other_graph:
        return Cell(figure, f"{newest.figure.ratio}, another graph")
    return Cell(figure, newest.figure.ratio, row.ratio.significant, not row.measure.busy)


def _is_own(row: Row) -> bool:
    """Whether a ratio is to a variant of the same framework."""
    return row.subject.partition("/")[0] == row.reference.partition("/")[0]
