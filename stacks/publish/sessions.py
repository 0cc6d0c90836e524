"""From results to what is published: one session for each run of the bench, with its figures."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stacks.bench.profile import Compilation, Profile
from stacks.bench.result import Machine, Result, Subject
from stacks.bench.rows import Row, rows, unlike, winners
from stacks.bench.store import Found
from stacks.bench.table import display_name, number, scale, sentence, silent

T = TypeVar("T")
# Stands where a figure would; a note of the session says more.
NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Figure:
    """A variant's figures of one measure, and of how many samples they are.

    `compile` is the median of the seconds in which it was compiled, where that is told. Where it
    was profiled, `profile` is that of the start with the median call, and `compilation` what the
    median of the compilations was made of.
    """

    row: Row
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
    def taken(self) -> str:
        """How many samples, of how many processes."""
        graphs = self.row.graphs
        rounds = f"{graphs.came} of {graphs.rounds}" if graphs.kinds > 1 else f"{graphs.rounds}"
        return f"{self.samples} in {rounds} rounds"

    @property
    def ratio(self) -> str:
        """How many times as fast, with the interval; empty where there is nothing to compare."""
        ratio = self.row.ratio
        return f"{ratio.value:.2f} ({ratio.low:.2f} - {ratio.high:.2f})" if ratio else ""

    @property
    def reference(self) -> str:
        """What the ratio is to: with its framework only where that is another one."""
        framework, _, flavour = self.row.reference.partition("/")
        name = flavour if framework == self.framework else self.row.reference
        return f"{name}, another graph" if self.unlike else name

    @property
    def unlike(self) -> bool:
        """Whether the ratio is to another graph, as none was common to both."""
        row = self.row
        return row.ratio is not None and row.common is None and row.graphs.usual is not None

    @property
    def _scale(self) -> tuple[float, str]:
        return scale(self.row.summary.median, self.row.measure.unit)

    def _scaled(self, value: float) -> str:
        return number(value * self._scale[0])


@dataclass(frozen=True)
class ResultSession:
    """One run of the bench: only figures of the same session are ever divided by each other."""

    result: Result
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]

    @property
    def machine(self) -> Machine:
        """The machine that it ran on."""
        return self.result.machine

    @property
    def hardware(self) -> str:
        """The machine in words."""
        m = self.machine
        return (
            f"{m.cpu} ({m.vendor} {m.model}, microcode {m.microcode}), {m.cores} cores, "
            f"{m.memory / 2**30:.0f} GiB; kernel {m.kernel}, glibc {m.glibc}"
        )

    @property
    def peaks(self) -> str:
        """What the machine can do at most, as its verification measured it."""
        return ", ".join(
            f"{peak.dtype} on {threads(peak.threads)} {number(peak.gflops)} GFLOP/s"
            for peak in self.machine.peak
        )

    @property
    def commit(self) -> str:
        """The project's commit, and whether files differed from it."""
        commit = self.result.commit or "unknown"
        return f"{commit} with changes" if self.result.changed else commit

    @property
    def how(self) -> str:
        """How it was timed."""
        settings = self.result.settings
        said = [
            f"{settings.rounds} rounds, turn by turn",
            "few sizes (--quick)" if settings.quick else "all sizes",
            "kept to processors of their own" if settings.pinned else "not kept to processors",
        ]
        if settings.quota is not None:
            said.append(f"a container's limit of {settings.quota:g} cores")
        return "; ".join(said)

    def peak(self, dtype: str, count: int) -> float | None:
        """Return the machine's measured peak in GFLOP/s, where it was measured."""
        found = [p.gflops for p in self.machine.peak if (p.dtype, p.threads) == (dtype, count)]
        return found[0] if found else None


def threads(count: int) -> str:
    """Return a count of threads in words."""
    return f"{count} thread{'' if count == 1 else 's'}"


def versions(subject: Subject) -> str:
    """Return what a variant is made of."""
    return ", ".join(f"{p.name} {p.version}" for p in subject.packages)


def sessions(found: Sequence[Found]) -> list[ResultSession]:
    """Return the last run of the same on each machine, as sessions: by machine, the newest first.

    A run is of the same where its variants, workloads, threads and sizes are.
    """
    last = {_kind(one.result): one.result for one in sorted(found, key=_when)}
    newest = sorted(last.values(), key=lambda result: result.began, reverse=True)
    return [_session(result) for result in sorted(newest, key=lambda r: r.machine.name)]


def _when(one: Found) -> tuple[str, str]:
    return (one.result.began, one.path.name)


def _kind(result: Result) -> tuple[object, ...]:
    settings = result.settings
    variants = frozenset(subject.id for subject in result.subjects)
    return (
        result.machine.name,
        variants,
        frozenset(settings.workloads),
        settings.threads,
        settings.quick,
    )


def _session(result: Result) -> ResultSession:
    found = rows(result.runs, result.subjects)
    said = [
        sentence(measure, [display_name(name, found) for name in names])
        for measure, names in winners(result.runs).items()
    ]
    figures = tuple(_figure(result, row) for row in found)
    notes = (*said, *silent(result.missing), *unlike(found), *result.remarks)
    return ResultSession(result, figures, notes)


def _figure(result: Result, row: Row) -> Figure:
    """Return a row with what is told of the samples of the graph that it is of."""
    mine = [
        series
        for run in result.runs
        if (run.subject, run.threads) == (row.subject, row.measure.threads)
        for series in run.series
        if (series.name, series.unit, series.graph)
        == (row.measure.name, row.measure.unit, row.graphs.usual)
    ]
    compiled = [series.compile for series in mine if series.compile is not None]
    profiles = [series.profile for series in mine if series.profile]
    compilations = [profile.compile for profile in profiles]
    return Figure(
        row,
        samples=sum(len(series.samples) for series in mine),
        compile=statistics.median(compiled) if compiled else None,
        profile=_middle(profiles, lambda profile: profile.seconds / profile.calls),
        compilation=_middle(compilations, lambda compilation: compilation.total),
    )


def _middle(found: Sequence[T], size: Callable[[T], float]) -> T | None:
    """Return the one of median size, of two the smaller: a whole that was measured."""
    return sorted(found, key=size)[(len(found) - 1) // 2] if found else None
