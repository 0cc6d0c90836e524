"""The columns of the summary: what is measured, and how its figures are shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench import probe
from stacks.bench.rows import beside
from stacks.bench.table import number
from stacks.core.console import plural
from stacks.timings.sessions import FIRST_STEP, Figure, ResultSession

# Calls of the frameworks' own check_blas.py, whose seconds it prints as one sum.
CHECK_BLAS_CALLS = 10


@dataclass(frozen=True)
class Column:
    """A measure, idle or beside busy loops, and the workload that measures it.

    question: what it answers in the short table, which has the first measured column of each;
    empty: it is in the long table only. dtype: of the peak that a figure is a share of. size: of
    the square matrices of check_blas.
    """

    head: str
    measure: str
    question: str = ""
    dtype: str = ""
    size: int = 0
    busy: int = 0
    workload: str = ""

    @property
    def title(self) -> str:
        """The head, with its busy loops."""
        return self.head + beside(self.busy)

    @property
    def program(self) -> str:
        """The name that a result has for it where it has no figure."""
        return probe.process_of(self.workload, self.measure)

    @property
    def load(self) -> str:
        """What else the machine did."""
        return load(self.busy)

    def text(self, figure: Figure, session: ResultSession) -> str:
        """Return a figure with its unit and, idle, its share of the machine's measured peak."""
        median, shown = figure.row.summary.median, figure.median
        if self.size:
            seconds, median = CHECK_BLAS_CALLS * median, 2e-9 * self.size**3 / median
            shown = f"{number(seconds)} s, {number(median)} GFLOP/s"
        # The machine's peak was measured idle, and on the processor.
        dtype = "" if self.busy or figure.row.subject in session.on_device else self.dtype
        peak = session.peak(dtype, figure.row.measure.threads) if dtype else None
        return f"{shown}, {median / peak:.0%}" if peak else shown


def _programs() -> list[Column]:
    """Return the columns of the programs: a step, and the first one."""
    programs = (
        ("LSTM", "lstm merged", "step"),
        ("ntm", "ntm step", "step"),
        ("MLP", "mlp step", "step"),
        ("LeNet", "lenet step", "step"),
        ("logreg", "logreg step", "step"),
        ("LSTM, tutorial", "lstm tutorial", ""),
    )
    return [
        *(Column(head, measure, question) for head, measure, question in programs),
        *(
            Column(f"{head}, first step", measure + FIRST_STEP, question and f"first {question}")
            for head, measure, question in programs
        ),
    ]


COLUMNS = (
    Column("check_blas 2000, float64", "check_blas 2000", "product", "float64", 2000),
    Column("Gemm 2000, float64", "Gemm float64 2000", "product", "float64"),
    Column("check_blas 5000, float64", "check_blas 5000", "large product", "float64", 5000),
    Column("Gemm 4000, float64", "Gemm float64 4000", "", "float64"),
    Column(
        "check_blas 2000, float32", "check_blas 2000 float32", "product, float32", "float32", 2000
    ),
    Column("Gemm 2000, float32", "Gemm float32 2000", "product, float32", "float32"),
    Column(
        "check_blas 5000, float32",
        "check_blas 5000 float32",
        "large product, float32",
        "float32",
        5000,
    ),
    Column("Gemm 4000, float32", "Gemm float32 4000", "", "float32"),
    Column("exp", "exp float32 400x512", "exp"),
    Column("tanh", "tanh float32 400x512", "tanh"),
    *_programs(),
)


def load(busy: int) -> str:
    """Return what else the machine did: nothing, or a number of busy loops."""
    return plural(busy, "busy loop") if busy else "idle"


def measured(workloads: Mapping[tuple[str, int], str]) -> list[Column]:
    """Return the columns of {(measure, busy loops): workload}, all idle ones first."""
    return [
        dataclasses.replace(column, busy=busy, workload=workloads[column.measure, busy])
        for busy in sorted({busy for _, busy in workloads})
        for column in COLUMNS
        if (column.measure, busy) in workloads
    ]


def short(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of the short table: the first of each question."""
    first: dict[tuple[str, int], Column] = {}
    for column in columns:
        # Beside busy loops, the step of a program is the answer.
        if column.question and (not column.busy or column.question == "step"):
            first.setdefault((column.question, column.busy), column)
    return list(first.values())
