"""The results as sessions: one for each run of the bench, with its figures and their ratios."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from stacks.bench.result import Machine, Result, Run, Series, Subject
from stacks.bench.rows import Row, rows
from stacks.bench.store import StoredResult
from stacks.bench.table import notes, number, winner_sentences
from stacks.core.console import plural

# The ending of the measure of a program's first step: its compilation and one call.
FIRST_STEP = ", first step"


@dataclass(frozen=True)
class Figure:
    """A variant's figures of one measure, and the workload that measured it."""

    row: Row
    workload: str

    @property
    def other_graph(self) -> bool:
        """Whether the ratio is to another graph, because both have none in common."""
        row = self.row
        return row.ratio is not None and row.common is None and row.graphs.usual is not None


@dataclass(frozen=True)
class Session:
    """One run of the bench; only figures of the same session are compared.

    notes: the fastest variants, and what a reader must know of the run.
    """

    stored: StoredResult
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]

    @property
    def result(self) -> Result:
        """What was measured."""
        return self.stored.result

    @property
    def machine(self) -> Machine:
        """The machine of the run."""
        return self.result.machine

    @property
    def hardware(self) -> str:
        """The machine for people."""
        m = self.machine
        return (
            f"{m.cpu} ({m.vendor} {m.model}, microcode {m.microcode}), {m.cores} cores, "
            f"{m.memory / 2**30:.0f} GiB, kernel {m.kernel}, glibc {m.glibc}"
        )

    @property
    def peaks(self) -> str:
        """The measured peaks of the machine, for people."""
        return ", ".join(
            f"{peak.dtype} on {plural(peak.threads, 'thread')} {number(peak.gflops)} GFLOP/s"
            for peak in self.machine.peak
        )

    @property
    def commit(self) -> str:
        """The project's commit, and whether files differed from it."""
        commit = self.result.commit or "unknown"
        return f"{commit} with changes" if self.result.changed else commit

    @property
    def method(self) -> str:
        """The settings of the timing, for people."""
        settings = self.result.settings
        words = [
            f"{settings.rounds} rounds, turn by turn",
            "few sizes (--quick)" if settings.quick else "all sizes",
            "pinned to processors" if settings.pinned else "not pinned to processors",
        ]
        if settings.busy:
            words.append(f"{plural(settings.busy, 'busy loop')} beside every round")
        if settings.quota is not None:
            words.append(f"a container's limit of {settings.quota:g} cores")
        return ", ".join(words)

    def subject(self, name: str) -> Subject:
        """Return one of the session's variants by its name among all."""
        return next(each for each in self.result.subjects if each.id == name)

    def peak(self, dtype: str, threads: int) -> float | None:
        """Return the machine's peak in GFLOP/s on a number of threads, None if not measured."""
        peaks = [p.gflops for p in self.machine.peak if (p.dtype, p.threads) == (dtype, threads)]
        return next(iter(peaks), None)


def versions(subject: Subject) -> str:
    """Return the packages of a variant with their versions."""
    return ", ".join(f"{p.name} {p.version}" for p in subject.packages)


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
    sentences = [*winner_sentences(result, measured), *notes(result, measured)]
    first = rows(_first_steps(result.runs), result.subjects)
    workloads = {series.name: run.workload for run in result.runs for series in run.series}
    figures = [
        Figure(row, workloads[row.measure.name.removesuffix(FIRST_STEP)])
        for row in (*measured, *first)
    ]
    return Session(stored, tuple(figures), tuple(sentences))


def _first_steps(runs: Sequence[Run]) -> list[Run]:
    """Return a run for each start of a program: the seconds of its compilation and one call.

    Programs compile without busy loops, so their first step is that of an idle machine.
    """
    starts: dict[tuple[str, int, int, str], Run] = {}
    for run in runs:
        for series in run.series:
            if run.busy or series.compile is None:
                continue
            start = run.start or run.round
            seconds = series.compile + statistics.median(series.samples)
            name = series.name + FIRST_STEP
            # A sum may be larger than what is allowed in a file.
            first = Series.model_construct(
                name=name, unit="s", samples=(seconds,), graph=series.graph
            )
            found = run.model_copy(update={"round": start, "series": (first,)})
            starts.setdefault((run.subject, run.threads, start, name), found)
    return list(starts.values())
