"""What is published, as one model that the table, the page and the picture are drawn from.

First what a reader asks: which flavour for which kind of program, what to avoid, what it costs,
which framework. Then the tables of the machines, and how they were measured. `survey.py` makes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stacks.bench.intervals import Ratio, speedup
from stacks.bench.result import Machine
from stacks.timings.beside import DeviceReport, Samplers, Sampling
from stacks.timings.sessions import Column, Session

# The package that chooses threads.
LIBRARY = "blas-threads"


@dataclass(frozen=True)
class CurrentLock:
    """A lock: its SHA-256 as in results, the bytes to download, its packages' names and SHA-256."""

    sha256: str
    size: int
    digests: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Cell:
    """A figure with its unit, and how many times as fast as the baseline it is; or nothing.

    figure: also the reason where there is none. share: of the machine's measured peak. value: what
    cells are sorted by. other_graph: the ratio is to another graph. is_older: of another lock than
    the row's newest figures. is_bound: the ratio is at least so much, as the baseline was stopped.
    """

    figure: str = ""
    share: str = ""
    value: float | None = None
    ratio: Ratio | None = None
    other_graph: bool = False
    is_older: bool = False
    is_bound: bool = False

    @property
    def factor(self) -> str:
        """How many times as fast; empty without a comparison."""
        return f"{'over ' * self.is_bound}{self.ratio.value:.2f}" if self.ratio else ""

    @property
    def interval(self) -> str:
        """The interval of the factor, in brackets; of a bound, its lower end."""
        if not self.ratio:
            return ""
        return f"(over {self.ratio.low:.2f})" if self.is_bound else f"({self.ratio.interval})"

    @property
    def times(self) -> str:
        """How many times as fast, with the interval; empty without a comparison."""
        return f"{self.factor} {self.interval}".strip()

    @property
    def is_difference(self) -> bool:
        """Whether it is clearly faster or slower than the baseline."""
        return self.ratio is not None and self.ratio.significant and not self.other_graph


def gain(sampling: Sampling, framework: str) -> Cell:
    """Return how many times as fast openblas samples as pip-default; nothing if not measured."""
    for one in sampling.programs:
        if one.framework == framework:
            pip = [seconds or sampling.limit for seconds in one.pip]
            return Cell(ratio=speedup(one.chosen, pip, "s"), is_bound=None in one.pip)
    return Cell()


@dataclass(frozen=True)
class Environment:
    """An environment: its download in bytes, and its cells.

    size: None without a lock in this checkout. is_current: its newest figures are of that lock.
    """

    framework: str
    flavour: str
    is_baseline: bool
    on_device: bool
    size: int | None
    cells: Mapping[Column, Cell]
    is_current: bool

    @property
    def name(self) -> str:
        """FRAMEWORK/FLAVOUR."""
        return f"{self.framework}/{self.flavour}"

    def has_figure(self, columns: Iterable[Column]) -> bool:
        """Whether it has a figure in one of these columns."""
        return any(self.cells[column].figure for column in columns)


@dataclass(frozen=True)
class MachineTable:
    """The rows of a machine. fastest: by framework and column, those that nothing clearly beats.

    sessions: those that figures are of, the newest first.
    """

    machine: Machine
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


@dataclass(frozen=True)
class Answer:
    """What to take for one kind of program: {framework that was timed: its environment}."""

    column: Column
    rows: Mapping[str, Environment]

    @property
    def take(self) -> str:
        """The flavour that the most frameworks take."""
        flavours = [row.flavour for row in self.rows.values()]
        return max(flavours, key=flavours.count)


@dataclass(frozen=True)
class Slower:
    """A flavour that is clearly slower than the baseline, with the frameworks where it is.

    ratios: of these frameworks. frameworks: the number of all that were timed.
    """

    flavour: str
    column: Column
    ratios: Mapping[str, Ratio]
    frameworks: int


@dataclass(frozen=True)
class Step:
    """A step of the article: the seconds of 100 calls, how many times as fast as the first it is.

    ratio: None for the first, and of the article, which has one run of each.
    """

    flavour: str
    seconds: float
    times: float
    ratio: Ratio | None = None
    other_graph: bool = False


@dataclass(frozen=True)
class Steps:
    """The article's steps as one of our sessions timed them."""

    framework: str
    steps: tuple[Step, ...]
    session: Session


@dataclass(frozen=True)
class View:
    """All that is published.

    answers, slower: of the first machine. across: a session with one flavour of each of several
    frameworks, and of its figures the steps of programs; the name of a measure ends with what ran
    it, if that is not C.
    article: its figures; steps: ours of the same. current: the locks of this checkout.
    """

    machines: tuple[MachineTable, ...]
    answers: tuple[Answer, ...]
    slower: tuple[Slower, ...]
    across: Session | None
    article: tuple[Step, ...]
    steps: tuple[Steps, ...]
    devices: tuple[DeviceReport, ...]
    samplers: tuple[Samplers, ...]
    samplings: tuple[Sampling, ...]
    sessions: tuple[Session, ...]
    current: Mapping[str, CurrentLock]

    @property
    def downloads(self) -> tuple[int, int] | None:
        """The smallest and the largest download of an environment, in bytes."""
        sizes = [row.size for one in self.machines[:1] for row in one.rows if row.size is not None]
        return (min(sizes), max(sizes)) if sizes else None

    def is_older(self, sampling: Sampling) -> bool:
        """Whether it is of another libblas_threads than a lock of this checkout has."""
        return any(
            (LIBRARY, one.library) not in lock.digests
            for one in sampling.programs
            if (lock := self.current.get(f"{one.framework}/openblas"))
        )

    @property
    def not_timed(self) -> list[str]:
        """The environments of this checkout whose present lock no machine has timed.

        Another machine's row may stay old: the machine may be gone. So may one with a device.
        """
        rows = [r for one in self.machines for r in one.rows if r.name in self.current]
        timed = {row.name for row in rows if row.is_current or row.on_device}
        return sorted({row.name for row in rows} - timed)
