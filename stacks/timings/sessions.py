"""The results as sessions: one for each run of the bench, with its figures and their ratios."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from stacks.bench.result import Machine, Result, Run, Series, Subject
from stacks.bench.rows import Row, rows
from stacks.bench.store import StoredResult
from stacks.bench.table import notes, winner_sentences
from stacks.timings.columns import FIRST_STEP


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

    def subject(self, name: str) -> Subject:
        """Return one of the session's variants by its name among all."""
        return next(each for each in self.result.subjects if each.id == name)

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
    sentences = [*winner_sentences(result, measured), *notes(result, measured)]
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
