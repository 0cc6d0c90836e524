"""Rows of a result: medians, ratios to the baseline, the fastest variants."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.intervals import LEAST_STARTS, RATES, Ratio, Summary, speedup, summary
from stacks.bench.result import Run, Series, Subject
from stacks.bench.schedule import ALIKE
from stacks.core.console import plural
from verify.workloads.rounds import NUMBA


@dataclass(frozen=True, order=True)
class Measure:
    """A workload's case, the number of threads, the unit, and the busy loops beside it."""

    name: str
    threads: int
    unit: str
    busy: int = 0

    @property
    def label(self) -> str:
        """The case for people, with its busy loops."""
        return self.name + beside(self.busy)

    @property
    def title(self) -> str:
        """The measure for people."""
        return f"{self.label}, {plural(self.threads, 'thread')}"


def beside(busy: int) -> str:
    """Return the end of a measure's label that names its busy loops, empty without any."""
    return f" beside {plural(busy, 'busy loop')}" if busy else ""


@dataclass(frozen=True)
class Graphs:
    """The most frequent graph of a variant, which its figures are of.

    It occurred in `came` of `rounds` rounds and in `starts` starts; `kinds` is the number of
    different graphs.
    """

    usual: str | None
    came: int
    rounds: int
    kinds: int
    starts: int = 0


@dataclass(frozen=True)
class Row:
    """A variant's figures of one measure.

    ratio: to the variant `reference`; both compiled to the graph `common`, None if there is none.
    """

    measure: Measure
    subject: str
    summary: Summary
    graphs: Graphs
    reference: str
    ratio: Ratio | None
    common: str | None

    @property
    def other_graph(self) -> bool:
        """Whether the ratio is to another graph, because both have none in common."""
        return self.ratio is not None and self.common is None and self.graphs.usual is not None


@dataclass(frozen=True)
class _Taken:
    """A variant's samples of one measure: {graph or None: {round: samples}}.

    starts: {round: start of the program}.
    """

    by_graph: dict[str | None, dict[int, tuple[float, ...]]]
    starts: dict[int, int]

    @property
    def usual(self) -> str | None:
        """The most frequent graph; of equally frequent ones the first by name."""
        return min(self.by_graph, key=lambda graph: (-len(self.by_graph[graph]), graph or ""))

    @property
    def graphs(self) -> Graphs:
        """The numbers of the usual graph."""
        rounds = sum(map(len, self.by_graph.values()))
        came = len(self.by_graph[self.usual])
        starts = {self.starts[number] for number in self.by_graph[self.usual]}
        return Graphs(self.usual, came, rounds, len(self.by_graph), len(starts))

    @property
    def summary(self) -> Summary:
        """The figures of the usual graph."""
        taken = self.by_graph[self.usual].values()
        return summary([sample for samples in taken for sample in samples])


def rows(runs: Sequence[Run], subjects: Sequence[Subject]) -> list[Row]:
    """Return all figures of the runs, by measure in order of appearance, then by variant."""
    every = _taken(runs)
    return [
        _row(measure, subject, subjects, every)
        for measure, taken in every.items()
        for subject in subjects
        if subject.id in taken
    ]


def _row(
    measure: Measure,
    subject: Subject,
    subjects: Sequence[Subject],
    every: Mapping[Measure, Mapping[str, _Taken]],
) -> Row:
    mine = every[measure][subject.id]
    reference = reference_of(subject, subjects)
    # Without a figure of numba, the reference's figure of C is compared.
    plain = dataclasses.replace(measure, name=measure.name.removesuffix(NUMBA))
    theirs = every[measure].get(reference) or every.get(plain, {}).get(reference)
    ratio, common = None, None
    if theirs and reference != subject.id:
        ratio, common = _ratio(mine, theirs, measure.unit)
    return Row(measure, subject.id, mine.summary, mine.graphs, reference, ratio, common)


def reference_of(subject: Subject, subjects: Sequence[Subject]) -> str:
    """Return the variant to compare with: its framework's baseline, else the first of all."""
    baselines = [s for s in subjects if s.baseline and s.framework == subject.framework]
    return (baselines or list(subjects))[0].id


def winners(runs: Sequence[Run]) -> dict[Measure, tuple[str, ...]]:
    """Return {measure of several variants: the fastest, and all that are not clearly slower}."""
    fastest = {}
    for measure, taken in _taken(runs).items():
        if len(taken) > 1:
            medians = {name: one.summary.median for name, one in taken.items()}
            first = (max if measure.unit in RATES else min)(medians, key=medians.__getitem__)
            fastest[measure] = tuple(
                name
                for name, one in taken.items()
                if name == first or not _ratio(taken[first], one, measure.unit)[0].significant
            )
    return fastest


def graph_notes(measured: Sequence[Row]) -> list[str]:
    """Return a note for each row whose graphs differ, or that has too few starts."""
    notes = []
    for row in measured:
        graphs = row.graphs
        if row.ratio and row.ratio.starts < min(LEAST_STARTS, row.ratio.rounds):
            notes.append(
                f"{row.measure.title}: {row.subject} has no interval: it takes {LEAST_STARTS} "
                f"starts, and there were {row.ratio.starts}"
            )
        if graphs.kinds > 1:
            notes.append(
                f"{row.measure.title}: {row.subject} compiled to {graphs.kinds} graphs; its "
                f"figures are of the one that came in {graphs.came} of {graphs.rounds} rounds"
            )
        if row.other_graph:
            notes.append(
                f"{row.measure.title}: {row.subject} has another graph than {row.reference}"
            )
        elif row.ratio and row.common != graphs.usual:
            notes.append(
                f"{row.measure.title}: the ratio of {row.subject} is of another graph than its "
                f"figures: of one that {row.reference} has too"
            )
    return notes


def _ratio(mine: _Taken, theirs: _Taken, unit: str) -> tuple[Ratio, str | None]:
    """Return the ratio and the common graph: only equal graphs are compared if there are any."""
    shared = set(mine.by_graph) & set(theirs.by_graph)
    common = min(
        shared,
        key=lambda g: (-min(len(mine.by_graph[g]), len(theirs.by_graph[g])), g or ""),
        default=None,
    )
    ours = mine.by_graph[common if shared else mine.usual]
    others = theirs.by_graph[common if shared else theirs.usual]
    pairs = [(number, number) for number in sorted(set(ours) & set(others))]
    if len(pairs) < LEAST_STARTS:
        # Both seldom had the graph in the same round: pair different rounds.
        pairs = list(zip(sorted(ours), sorted(others), strict=False))
    left = [statistics.median(ours[a]) for a, _ in pairs]
    right = [statistics.median(others[b]) for _, b in pairs]
    starts = [(mine.starts[a], theirs.starts[b]) for a, b in pairs]
    return speedup(left, right, unit, starts), common


def _taken(runs: Sequence[Run]) -> dict[Measure, dict[str, _Taken]]:
    """Return {measure: {variant: samples}}."""
    every: dict[Measure, dict[str, _Taken]] = {}
    for run in runs:
        for series in run.series:
            measure = Measure(series.name, run.threads, series.unit, run.busy)
            taken = every.setdefault(measure, {}).setdefault(run.subject, _Taken({}, {}))
            is_alike = run.workload in ALIKE
            taken.starts[run.round] = run.round if is_alike else run.start or run.round
            samples = (_mean(series),) if run.busy else series.samples
            taken.by_graph.setdefault(series.graph, {})[run.round] = samples
    return every


def _mean(series: Series) -> float:
    """Return the mean of a round by time.

    Beside busy loops a few calls take many times as long as the median, and a program waits for
    them, too.
    """
    mean = statistics.harmonic_mean if series.unit in RATES else statistics.fmean
    return mean(series.samples)
