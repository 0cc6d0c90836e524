"""What is published of the results, as one model that the table, page and picture are drawn from.

First what a reader asks: which flavour for which kind of program, what to avoid, what it costs,
which framework. Then the tables of the machines, and how they were measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.intervals import Ratio
from stacks.bench.store import StoredResult
from stacks.bench.table import number, scale
from stacks.timings import article, columns
from stacks.timings.article import Steps
from stacks.timings.columns import Column
from stacks.timings.devices import DeviceReport
from stacks.timings.figures import FIRST_STEP, Session, sessions
from stacks.timings.locks import CurrentLock
from stacks.timings.machine import Cell, MachineTable, machine_tables

# What to take, unless it is clearly slower: these, and then the fastest.
USUAL = ("openblas", "openblas-amdlibm")
# Fewer frameworks in the same rounds are no answer to which of them is fastest.
LEAST_FRAMEWORKS = 3


@dataclass(frozen=True)
class Choice:
    """The flavour to take with a framework for one kind of program, and its figures."""

    framework: str
    flavour: str
    cell: Cell


@dataclass(frozen=True)
class Answer:
    """What to take for one kind of program: a choice for each framework that was timed."""

    column: Column
    choices: tuple[Choice, ...]

    @property
    def take(self) -> str:
        """The flavour that the most frameworks take."""
        flavours = [choice.flavour for choice in self.choices]
        return max(flavours, key=flavours.count)

    def choice(self, framework: str) -> Choice | None:
        """Return the choice of a framework, None if it was not timed."""
        return next((one for one in self.choices if one.framework == framework), None)


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
class Timed:
    """A step of a program, timed with one framework and by one linker or sampler.

    ratio: how many times as fast as `reference`, in the same rounds; None of the reference.
    """

    environment: str
    by: str
    program: str
    figure: str
    reference: str
    ratio: Ratio | None


@dataclass(frozen=True)
class Across:
    """One session with one flavour of each of several frameworks, in the same rounds."""

    session: Session
    timed: tuple[Timed, ...]


@dataclass(frozen=True)
class View:
    """All that is published.

    answers, slower: of the first machine. across: None if no session has timed several frameworks.
    steps: ours of the article's example. current: the locks of this checkout.
    """

    machines: tuple[MachineTable, ...]
    answers: tuple[Answer, ...]
    slower: tuple[Slower, ...]
    across: Across | None
    steps: tuple[Steps, ...]
    devices: tuple[DeviceReport, ...]
    sessions: tuple[Session, ...]
    current: Mapping[str, CurrentLock]

    @property
    def downloads(self) -> tuple[int, int] | None:
        """The smallest and the largest download of an environment, in bytes."""
        sizes = [row.size for one in self.machines[:1] for row in one.rows if row.size is not None]
        return (min(sizes), max(sizes)) if sizes else None

    @property
    def not_timed(self) -> list[str]:
        """The environments of this checkout whose present lock no machine has timed.

        Another machine's row may stay old: the machine may be gone.
        """
        rows = [r for one in self.machines for r in one.rows if r.name in self.current]
        timed = {row.name for row in rows if row.is_current}
        return sorted({row.name for row in rows} - timed)


def view(
    stored: Sequence[StoredResult],
    current: Mapping[str, CurrentLock],
    reports: Sequence[DeviceReport] = (),
) -> View:
    """Return what is published of results, with the locks of this checkout.

    reports: of devices. The same results and locks give the same view.
    """
    every = sessions(stored)
    machines = machine_tables(every, current)
    first = machines[0] if machines else None
    across = _across(every)
    steps = article.ours(every)
    used = [
        *(session for one in machines for session in one.sessions),
        *(one.session for one in steps),
        *([across.session] if across else []),
    ]
    return View(
        tuple(machines),
        tuple(_answers(first)) if first else (),
        tuple(_slower(first)) if first else (),
        across,
        tuple(steps),
        tuple(reports),
        tuple(session for session in every if session in used),
        current,
    )


def _answers(table: MachineTable) -> list[Answer]:
    answers = []
    for column in columns.answering(table.columns):
        choices = [_choice(table, framework, column) for framework in table.frameworks]
        if found := [choice for choice in choices if choice]:
            answers.append(Answer(column, tuple(found)))
    return answers


def _choice(table: MachineTable, framework: str, column: Column) -> Choice | None:
    """Return a usual flavour unless another one is clearly faster, else the fastest."""
    cells = {
        row.flavour: row.cells[column]
        for row in table.rows
        if row.framework == framework and not row.is_baseline and not row.on_device
    }
    ratios = {name: cell.ratio.value for name, cell in cells.items() if cell.ratio}
    if not ratios:
        return None
    fastest = table.fastest.get((framework, column), ())
    by_speed = sorted(ratios, key=lambda name: (-ratios[name], name))
    ordered = [name for name in dict.fromkeys((*USUAL, *by_speed)) if name in ratios]
    taken = next((name for name in ordered if f"{framework}/{name}" in fastest), ordered[0])
    return Choice(framework, taken, cells[taken])


def _slower(table: MachineTable) -> list[Slower]:
    found = []
    for column in columns.answering(table.columns):
        by_flavour: dict[str, dict[str, Ratio]] = {}
        for row in table.rows:
            cell = row.cells[column]
            if cell.ratio and cell.is_slower and not row.on_device:
                by_flavour.setdefault(row.flavour, {})[row.framework] = cell.ratio
        for flavour, ratios in sorted(by_flavour.items()):
            timed = [
                row for row in table.rows if row.flavour == flavour and row.cells[column].ratio
            ]
            found.append(Slower(flavour, column, ratios, len(timed)))
    return found


def _across(every: Sequence[Session]) -> Across | None:
    """Return the newest session that timed one flavour of each of several frameworks."""
    for session in sorted(every, key=lambda one: one.result.began, reverse=True):
        frameworks = [subject.framework for subject in session.result.subjects]
        is_one_each = len(set(frameworks)) == len(frameworks) >= LEAST_FRAMEWORKS
        timed = tuple(_timed(session))
        if is_one_each and timed and not session.result.settings.busy:
            return Across(session, timed)
    return None


def _timed(session: Session) -> list[Timed]:
    found = []
    most = max(session.result.settings.threads)
    for row in (figure.row for figure in session.figures):
        measure = row.measure
        if (measure.unit, measure.threads) != ("s", most) or measure.name.endswith(FIRST_STEP):
            continue
        program, _, by = row.measure.name.partition(", ")
        factor, unit = scale(row.summary.median, "s")
        figure = f"{number(factor * row.summary.median)} {unit}"
        found.append(Timed(row.subject, by, program, figure, row.reference, row.ratio))
    return found
