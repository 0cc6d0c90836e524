"""The results as sessions, one for each run of the bench; the columns of the tables for them."""

import dataclasses
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stacks.bench.result import Machine, Result, Run, Series
from stacks.bench.rows import Row, display_names, notes, rows, winner_sentences
from stacks.bench.store import StoredResult
from stacks.core.console import plural


@dataclass(frozen=True)
class Session:
    """One run of the bench; only figures of the same session are compared.

    notes: the fastest variants, and what a reader must know of the run.
    """

    stored: StoredResult
    figures: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def result(self) -> Result:
        """What was measured."""
        return self.stored.result

    @property
    def machine(self) -> Machine:
        """The machine of the run."""
        return self.result.machine

    def peak(self, dtype: str, threads: int) -> float | None:
        """Return the machine's peak in GFLOP/s on a number of threads, None if not measured."""
        peaks = [p.gflops for p in self.machine.peak if (p.dtype, p.threads) == (dtype, threads)]
        return next(iter(peaks), None)


def sessions(stored: Sequence[StoredResult]) -> list[Session]:
    """Return the last run of each kind on each machine, by machine, the newest first.

    Runs of one kind have the same variants, workloads, threads, sizes and busy loops.
    """
    by_time = sorted(stored, key=lambda one: (one.result.began, one.path.name))
    last = {_kind(one.result): one for one in by_time}
    newest = sorted(last.values(), key=lambda one: one.result.began, reverse=True)
    return [_session(one) for one in sorted(newest, key=lambda one: one.result.machine.name)]


def _kind(result: Result) -> tuple[object, ...]:
    variants = frozenset(subject.id for subject in result.subjects)
    settings = result.settings
    timed = (frozenset(settings.workloads), settings.threads, settings.quick, settings.busy)
    return (result.machine.name, variants, *timed)


def _session(stored: StoredResult) -> Session:
    result = stored.result
    measured = rows(result.runs, result.subjects)
    sentences = winner_sentences(result.runs, display_names(measured)) + notes(result, measured)
    first = rows(_first_steps(result.runs), result.subjects)
    return Session(stored, (*measured, *first), tuple(sentences))


def _first_steps(runs: Sequence[Run]) -> list[Run]:
    """Return a run for each start of a program: the seconds of its compilation and one call.

    Programs compile without busy loops, so their first step is that of an idle machine.
    """
    starts: dict[tuple[str, int, int, str], Run] = {}
    for run in runs:
        for series in run.series:
            if run.busy or series.compile is None:
                continue
            seconds = series.compile + statistics.median(series.samples)
            name = series.name + FIRST_STEP
            # A sum may be larger than what is allowed in a file.
            first = Series.model_construct(
                name=name, unit="s", samples=(seconds,), graph=series.graph
            )
            found = run.model_copy(update={"round": run.start, "series": (first,)})
            starts.setdefault((run.subject, run.threads, run.start, name), found)
    return list(starts.values())


# The ending of the measure of a program's first step: its compilation and one call.
FIRST_STEP = ", first step"
# The kinds of programs, in a reader's words.
PRODUCTS, FLOAT32 = "large matrix products", "large products in float32"
DENSE, CONVOLUTIONS = "small dense layers", "small convolutions"
RECURRENT, TINY = "recurrent layers", "steps under 1 ms"
ELEMENTWISE = "exp and tanh over arrays"
# The columns of the short table.
TABLE = (PRODUCTS, DENSE, RECURRENT, ELEMENTWISE)
_KERNELS = {"Gemm": "gemm", "exp": "elementwise", "tanh": "elementwise"}


@dataclass(frozen=True)
class Column:
    """A measure, idle or beside busy loops.

    kind: the kind of program that it answers for; of the columns of one kind the first that was
    measured does. Empty: none. dtype: of the peak that a figure is a share of. size: of the square
    matrices of check_blas, whose seconds become GFLOP/s.
    """

    head: str
    measure: str
    kind: str = ""
    dtype: str = ""
    size: int = 0
    busy: int = 0

    @property
    def workload(self) -> str:
        """The workload that measures it; a program's measures begin with its name."""
        first = self.measure.split()[0]
        return _KERNELS.get(first, first)

    @property
    def question(self) -> str:
        """The kind of program, with its busy loops."""
        return self.kind + (f", while {plural(self.busy, 'busy loop')} run" if self.busy else "")


_PROGRAMS = (
    ("MLP", "mlp step", DENSE),
    ("LeNet", "lenet step", CONVOLUTIONS),
    ("LSTM", "lstm merged", RECURRENT),
    ("LSTM, tutorial", "lstm tutorial", ""),
    ("ntm", "ntm step", RECURRENT),
    ("logreg", "logreg step", TINY),
)


COLUMNS = (
    Column("check_blas 5000, float64", "check_blas 5000", PRODUCTS, "float64", 5000),
    Column("Gemm 4000, float64", "Gemm float64 4000", PRODUCTS, "float64"),
    Column("check_blas 2000, float64", "check_blas 2000", PRODUCTS, "float64", 2000),
    Column("Gemm 2000, float64", "Gemm float64 2000", PRODUCTS, "float64"),
    Column("check_blas 5000, float32", "check_blas 5000 float32", FLOAT32, "float32", 5000),
    Column("Gemm 4000, float32", "Gemm float32 4000", FLOAT32, "float32"),
    Column("check_blas 2000, float32", "check_blas 2000 float32", FLOAT32, "float32", 2000),
    Column("Gemm 2000, float32", "Gemm float32 2000", FLOAT32, "float32"),
    *(Column(head, measure, kind) for head, measure, kind in _PROGRAMS),
    Column("tanh", "tanh float32 400x512", ELEMENTWISE),
    Column("exp", "exp float32 400x512", ELEMENTWISE),
    *(Column(f"{head}, first step", measure + FIRST_STEP) for head, measure, _ in _PROGRAMS),
)
# What is shown beside busy loops, too.
_BUSY = (DENSE, RECURRENT)


def measured(measures: Collection[tuple[str, int]]) -> list[Column]:
    """Return the columns of (measure, busy loops) pairs, all idle ones first."""
    return [
        dataclasses.replace(column, busy=busy)
        for busy in sorted({busy for _, busy in measures})
        for column in COLUMNS
        if (column.measure, busy) in measures
    ]


def answering(columns: Sequence[Column]) -> list[Column]:
    """Return the first column of each kind of program; beside busy loops those of some steps."""
    first: dict[tuple[str, int], Column] = {}
    for column in columns:
        if column.kind and (not column.busy or column.kind in _BUSY):
            first.setdefault((column.kind, column.busy), column)
    return list(first.values())


def in_table(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of the short table: the idle answers to its kinds."""
    return [each for each in answering(columns) if not each.busy and each.kind in TABLE]
