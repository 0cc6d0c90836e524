"""From stored results to the view: the table of each machine, answers, the article's steps.

An article of 2017 made a neural Turing machine on Theano 0.8.2 faster in three steps. It gives the
seconds of 100 calls of a training step, of one run of each, on a machine that it does not name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stacks.bench.intervals import Ratio, figure
from stacks.bench.result import Subject
from stacks.bench.rows import Row, winners
from stacks.bench.store import StoredResult
from stacks.timings.beside import DeviceReport, Samplers, Sampling
from stacks.timings.sessions import FIRST_STEP, Column, Session, answering, measured, sessions
from stacks.timings.view import (
    Answer,
    Cell,
    CurrentLock,
    Environment,
    MachineTable,
    Slower,
    Step,
    Steps,
    View,
)
from verify.workloads.rounds import NUMBA

# The article's seconds: with NumPy's OpenBLAS, with MKL, with MKL and AMD LibM.
ARTICLE = {"pip-default": 55.91766, "mkl": 49.39490, "mkl-amdlibm": 48.98488}
ARTICLE_CALLS, ARTICLE_MEASURE = 100, "ntm step"
# What to take, unless it is clearly slower: these, and then the fastest.
USUAL = ("openblas", "openblas-amdlibm")
# Fewer frameworks in the same rounds are no answer to which of them is fastest.
LEAST_FRAMEWORKS = 3
# An environment, a measure, and the busy loops beside it: its newest figure, and the session.
Newest = Mapping[tuple[str, str, int], tuple[Row, Session]]


def view(
    stored: Sequence[StoredResult],
    current: Mapping[str, CurrentLock],
    reports: Sequence[DeviceReport] = (),
    samplers: Sequence[Samplers] = (),
    samplings: Sequence[Sampling] = (),
) -> View:
    """Return what is published of results, with the locks of this checkout.

    reports: of devices. samplers, samplings: PyMC's. The same results and locks give the same view.
    """
    every = sessions(stored)
    # Without a baseline beside them, they would hide figures that have one.
    rest = [one for one in every if not _is_across(one)]
    machines = machine_tables(rest or every, current)
    across = _across(every)
    steps = [found for session in every for found in _steps(session)]
    used = [session for one in machines for session in one.sessions]
    used += [one.session for one in steps] + ([across] if across else [])
    paths = {session.stored.path for session in used}
    first = ARTICLE["pip-default"]
    return View(
        tuple(machines),
        tuple(answer for one in machines[:1] for answer in _answers(one)),
        tuple(slower for one in machines[:1] for slower in _slower(one)),
        across,
        tuple(Step(flavour, seconds, first / seconds) for flavour, seconds in ARTICLE.items()),
        tuple(steps),
        tuple(reports),
        tuple(samplers),
        tuple(samplings),
        tuple(session for session in every if session.stored.path in paths),
        current,
    )


def machine_tables(
    sessions: Sequence[Session], current: Mapping[str, CurrentLock]
) -> list[MachineTable]:
    """Return the table of each machine with figures; sessions: of a machine the newest first.

    The one with the most environments of the present locks is first, then of any.
    """
    by_machine: dict[str, list[Session]] = {}
    for session in sessions:
        by_machine.setdefault(session.machine.name, []).append(session)
    tables = [_table(each, current) for each in by_machine.values()]
    filled = [table for table in tables if table.rows]
    return sorted(filled, key=lambda one: (-sum(r.is_current for r in one.rows), -len(one.rows)))


def _table(sessions: Sequence[Session], current: Mapping[str, CurrentLock]) -> MachineTable:
    newest = _newest(sessions)
    heads = measured({(measure, busy) for _, measure, busy in newest})
    subjects: dict[str, Subject] = {}
    for subject in (subject for session in sessions for subject in session.result.subjects):
        subjects.setdefault(subject.id, subject)
    missing = {
        (one.subject, one.name, session.result.settings.busy): Cell(one.cell)
        for session in sessions
        for one in session.result.missing
        if not one.name.endswith(NUMBA)
    }
    found = []
    for name, subject in subjects.items():
        cells = {
            column: _cell(*newest[key], column, subject.lock)
            if (key := (name, column.measure, column.busy)) in newest
            else missing.get((name, column.workload, column.busy), Cell())
            for column in heads
        }
        lock = current.get(name)
        row = Environment(
            subject.framework,
            subject.flavour,
            subject.baseline,
            subject.device is not None,
            lock.size if lock else None,
            cells,
            is_current=lock is not None and subject.lock == lock.sha256,
        )
        if row.has_figure(heads):
            found.append(row)
    # The baseline, which others are compared to, comes first.
    found.sort(key=lambda row: (row.framework, not row.is_baseline, row.flavour))
    shown = {(column.measure, column.busy) for column in heads}
    used = [session for (_, *measure), (_, session) in newest.items() if tuple(measure) in shown]
    return MachineTable(
        sessions[0].machine,
        tuple(heads),
        tuple(found),
        _fastest(newest, heads),
        tuple(session for session in sessions if session in used),
    )


def _newest(sessions: Sequence[Session]) -> Newest:
    newest: dict[tuple[str, str, int], tuple[Row, Session]] = {}
    for session in sessions:
        for row in session.figures:
            key = row.subject, row.measure.name, row.measure.busy
            # An older one on more threads goes before the newest.
            if key not in newest or newest[key][0].measure.threads < row.measure.threads:
                newest[key] = row, session
    return newest


def _fastest(newest: Newest, heads: Sequence[Column]) -> dict[tuple[str, Column], tuple[str, ...]]:
    """Return the environments that none clearly beats, of the session with the most of them."""
    found: dict[tuple[str, Column], list[tuple[Row, Session]]] = {}
    for column in heads:
        for (name, measure, busy), one in newest.items():
            if (measure, busy) == (column.measure, column.busy):
                found.setdefault((name.partition("/")[0], column), []).append(one)
    fastest = {}
    for (framework, column), every in found.items():
        counts = [sum(session is other for _, other in every) for _, session in every]
        row, session = every[counts.index(max(counts))]
        runs = [run for run in session.result.runs if run.subject.startswith(f"{framework}/")]
        fastest[framework, column] = winners(runs).get(row.measure, ())
    return fastest


def _cell(row: Row, session: Session, column: Column, lock: str) -> Cell:
    value, unit = row.summary.median, row.measure.unit
    if column.size:
        value, unit = 2e-9 * column.size**3 / value, "GFLOP/s"
    subjects = {each.id: each for each in session.result.subjects}
    subject, reference = subjects[row.subject], subjects[row.reference]
    # The machine's peak was measured idle, and on the processor.
    has_peak = column.dtype and not column.busy and subject.device is None
    peak = session.peak(column.dtype, row.measure.threads) if has_peak else None
    is_to_baseline = reference.baseline and reference.framework == subject.framework
    return Cell(
        figure(value, unit),
        f"{value / peak:.0%}" if peak else "",
        value,
        row.ratio if is_to_baseline else None,
        row.other_graph,
        subject.lock != lock,
    )


def _answers(table: MachineTable) -> list[Answer]:
    answers = []
    for column in answering(table.columns):
        chosen = {name: _choice(table, name, column) for name in table.frameworks}
        if found := {name: row for name, row in chosen.items() if row}:
            answers.append(Answer(column, found))
    return answers


def _choice(table: MachineTable, framework: str, column: Column) -> Environment | None:
    """Return a usual flavour unless another one is clearly faster, else the fastest."""
    ratios = {
        row.flavour: (ratio.value, row)
        for row in table.rows
        if row.framework == framework and not row.is_baseline and not row.on_device
        if (ratio := row.cells[column].ratio)
    }
    by_speed = sorted(ratios, key=lambda name: (-ratios[name][0], name))
    ordered = [name for name in dict.fromkeys((*USUAL, *by_speed)) if name in ratios]
    fastest = table.fastest.get((framework, column), ())
    best = [name for name in ordered if f"{framework}/{name}" in fastest]
    return ratios[(best or ordered)[0]][1] if ordered else None


def _slower(table: MachineTable) -> list[Slower]:
    found = []
    for column in answering(table.columns):
        timed = [row for row in table.rows if row.cells[column].ratio]
        by_flavour: dict[str, dict[str, Ratio]] = {}
        for row in timed:
            cell = row.cells[column]
            if cell.ratio and cell.is_difference and cell.ratio.value < 1 and not row.on_device:
                by_flavour.setdefault(row.flavour, {})[row.framework] = cell.ratio
        for flavour, ratios in sorted(by_flavour.items()):
            count = sum(row.flavour == flavour for row in timed)
            found.append(Slower(flavour, column, ratios, count))
    return found


def _across(every: Sequence[Session]) -> Session | None:
    """Return the newest session that timed one flavour of each of several frameworks."""
    for session in sorted(every, key=lambda one: one.result.began, reverse=True):
        settings = session.result.settings
        rows = tuple(
            row
            for row in session.figures
            if (row.measure.unit, row.measure.threads) == ("s", max(settings.threads))
            and not row.measure.name.endswith(FIRST_STEP)
        )
        if _is_across(session) and rows and not settings.busy:
            return replace(session, figures=rows)
    return None


def _is_across(session: Session) -> bool:
    frameworks = [subject.framework for subject in session.result.subjects]
    return len(set(frameworks)) == len(frameworks) >= LEAST_FRAMEWORKS


def _steps(session: Session) -> list[Steps]:
    """Return our figures of the article's steps, if an idle session timed the first and another."""
    found: dict[str, dict[str, Step]] = {}
    for row in session.figures:
        framework, _, flavour = row.subject.partition("/")
        if row.measure.label != ARTICLE_MEASURE or flavour not in ARTICLE:
            continue
        seconds, steps = ARTICLE_CALLS * row.summary.median, found.setdefault(framework, {})
        if flavour == "pip-default":
            steps[flavour] = Step(flavour, seconds, 1.0)
        elif row.ratio and row.reference == f"{framework}/pip-default":
            steps[flavour] = Step(flavour, seconds, row.ratio.value, row.ratio, row.other_graph)
    return [
        Steps(framework, tuple(steps[name] for name in ARTICLE if name in steps), session)
        for framework, steps in found.items()
        if len(steps) > 1 and "pip-default" in steps
    ]
