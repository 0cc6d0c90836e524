"""What is published of the results: one session for each run of the bench, with its figures."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stacks.bench.profile import Compilation, Profile
from stacks.bench.result import Machine, Result, Run, Series, Subject
from stacks.bench.rows import Row, rows
from stacks.bench.store import StoredResult
from stacks.bench.table import notes, number, scale, winner_sentences
from stacks.core.console import plural

T = TypeVar("T")
# In place of a figure; a note of the session has the reason.
# The ending of the measure of a program's first step: its compilation and one call.
FIRST_STEP = ", first step"


@dataclass(frozen=True)
class Figure:
    """A variant's figures of one measure, and their number of samples.

    compile: median seconds of the compilation. profile: that of the start with the median call.
    compilation: the steps of the median compilation.
    """

    row: Row
    workload: str
    samples: int
    compile: float | None
    profile: Profile | None = None
    compilation: Compilation | None = None

    @property
    def framework(self) -> str:
        """The framework with its version."""
        return self.row.subject.partition("/")[0]

    @property
    def flavour(self) -> str:
        """The variant's name on its framework."""
        return self.row.subject.partition("/")[2]

    @property
    def median(self) -> str:
        """The median with its unit."""
        return f"{self._scaled(self.row.summary.median)} {self._scale[1]}"

    @property
    def quartiles(self) -> str:
        """The quartiles, in the unit of the median."""
        return f"{self._scaled(self.row.summary.low)} - {self._scaled(self.row.summary.high)}"

    @property
    def sample_counts(self) -> str:
        """The numbers of samples and of rounds."""
        graphs = self.row.graphs
        rounds = f"{graphs.came} of {graphs.rounds}" if graphs.kinds > 1 else f"{graphs.rounds}"
        return f"{self.samples} in {rounds} rounds"

    @property
    def ratio(self) -> str:
        """How many times as fast, with the interval; empty without a comparison."""
        ratio = self.row.ratio
        return f"{ratio.value:.2f} ({ratio.interval})" if ratio else ""

    @property
    def reference(self) -> str:
        """What the ratio is to, with its framework if that is another one."""
        framework, _, flavour = self.row.reference.partition("/")
        name = flavour if framework == self.framework else self.row.reference
        return f"{name}, another graph" if self.other_graph else name

    @property
    def other_graph(self) -> bool:
        """Whether the ratio is to another graph, because both have none in common."""
        row = self.row
        return row.ratio is not None and row.common is None and row.graphs.usual is not None

    @property
    def _scale(self) -> tuple[float, str]:
        return scale(self.row.summary.median, self.row.measure.unit)

    def _scaled(self, value: float) -> str:
        return number(value * self._scale[0])


@dataclass(frozen=True)
class ResultSession:
    """One run of the bench; only figures of the same session are compared."""

    result: Result
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]

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
            f"{m.memory / 2**30:.0f} GiB; kernel {m.kernel}, glibc {m.glibc}"
        )

    @property
    def peaks(self) -> str:
        """The measured peaks of the machine, for people."""
        return ", ".join(
            f"{peak.dtype} on {plural(peak.threads, 'thread')} {number(peak.gflops)} GFLOP/s"
            for peak in self.machine.peak
        )

    @property
    def on_device(self) -> frozenset[str]:
        """The variants that computed on a device, whose figures have nothing to do with a peak."""
        return frozenset(subject.id for subject in self.result.subjects if subject.device)

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
        return "; ".join(words)

    def peak(self, dtype: str, count: int) -> float | None:
        """Return the machine's peak in GFLOP/s on `count` threads, None if not measured."""
        peaks = [p.gflops for p in self.machine.peak if (p.dtype, p.threads) == (dtype, count)]
        return next(iter(peaks), None)


def versions(subject: Subject) -> str:
    """Return the packages of a variant with their versions."""
    return ", ".join(f"{p.name} {p.version}" for p in subject.packages)


def sessions(stored: Sequence[StoredResult]) -> list[ResultSession]:
    """Return the last run of each kind on each machine, by machine, the newest first.

    Runs of one kind have the same variants, workloads, threads, sizes and busy loops.
    """
    by_time = sorted(stored, key=lambda one: (one.result.began, one.path.name))
    last = {_kind(one.result): one.result for one in by_time}
    newest = sorted(last.values(), key=lambda result: result.began, reverse=True)
    return [_session(result) for result in sorted(newest, key=lambda r: r.machine.name)]


def _kind(result: Result) -> tuple[object, ...]:
    variants = frozenset(subject.id for subject in result.subjects)
    settings = result.settings
    timed = (frozenset(settings.workloads), settings.threads, settings.quick, settings.busy)
    return (result.machine.name, variants, *timed)


def _session(result: Result) -> ResultSession:
    measured = rows(result.runs, result.subjects)
    sentences = [*winner_sentences(result, measured), *notes(result, measured)]
    first = _first_steps(result.runs)
    figures = [
        *(_figure(result.runs, row) for row in measured),
        *(_figure(first, row) for row in rows(first, result.subjects)),
    ]
    return ResultSession(result, tuple(figures), tuple(sentences))


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


def _figure(runs: Sequence[Run], row: Row) -> Figure:
    """Return a row with the compilation and the profile of its graph."""
    mine = [
        (run.workload, series)
        for run in runs
        if (run.subject, run.threads) == (row.subject, row.measure.threads)
        for series in run.series
        if (series.name, series.unit, series.graph)
        == (row.measure.name, row.measure.unit, row.graphs.usual)
    ]
    compiled = [series.compile for _, series in mine if series.compile is not None]
    profiles = [series.profile for _, series in mine if series.profile]
    compilations = [profile.compile for profile in profiles]
    return Figure(
        row,
        workload=mine[0][0],
        samples=sum(len(series.samples) for _, series in mine),
        compile=statistics.median(compiled) if compiled else None,
        profile=_middle(profiles, lambda profile: profile.seconds / profile.calls),
        compilation=_middle(compilations, lambda compilation: compilation.total),
    )


def _middle(values: Sequence[T], size: Callable[[T], float]) -> T | None:
    """Return the value of median size, of two the smaller; None without values."""
    return sorted(values, key=size)[(len(values) - 1) // 2] if values else None
