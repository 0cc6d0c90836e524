"""The columns of the tables: what is measured, and which kind of program it answers for."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stacks.core.console import plural

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
# No session times these: the flavour to take, and the page below docs/ that has their figures.
ELSEWHERE = {"a PyMC model, several chains": ("openblas", "guides/pymc")}


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
