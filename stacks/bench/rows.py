"""From runs to rows: medians, ratios to the baseline, who is the fastest."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.intervals import LEAST_ROUNDS, RATES, Ratio, Summary, speedup, summary
from stacks.bench.result import NUMBA, Run, Subject


@dataclass(frozen=True, order=True)
class Measure:
    """What was measured, and on how many threads."""

    name: str
    threads: int
    unit: str

    @property
    def told(self) -> str:
        """The measure as a person reads it."""
        return f"{self.name}, {self.threads} thread{'' if self.threads == 1 else 's'}"


@dataclass(frozen=True)
class Graphs:
    """Which graph a variant's figures are of, in how many of its rounds that came, of how many.

    `starts` are those of the program in which it came.
    """

    usual: str | None
    came: int
    rounds: int
    kinds: int
    starts: int = 0


@dataclass(frozen=True)
class Row:
    """A variant's figures of one measure.

    `ratio` is to the variant `reference`, with both compiled to the graph `common`, where there is
    such a one.
    """

    measure: Measure
    subject: str
    summary: Summary
    graphs: Graphs
    reference: str
    ratio: Ratio | None
    common: str | None


@dataclass(frozen=True)
class _Taken:
    """A variant's samples of one measure: {graph: {round: samples}}; no graph is one, too.

    `starts` has for each round the start of the program that it is of.
    """

    by_graph: dict[str | None, dict[int, tuple[float, ...]]]
    starts: dict[int, int]

    @property
    def usual(self) -> str | None:
        """The graph that came most often; of several the same one every time this is read."""
        return min(self.by_graph, key=lambda graph: (-len(self.by_graph[graph]), graph or ""))

    @property
    def graphs(self) -> Graphs:
        """How often the usual graph came."""
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
    """Return every figure of the runs, each measure's variants together, in the order they came."""
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
    # What numba compiled is compared with C where the reference has no numba.
    plain = dataclasses.replace(measure, name=measure.name.removesuffix(NUMBA))
    theirs = every[measure].get(reference) or every.get(plain, {}).get(reference)
    ratio, common = None, None
    if theirs and reference != subject.id:
        ratio, common = _ratio(mine, theirs, measure.unit)
    return Row(measure, subject.id, mine.summary, mine.graphs, reference, ratio, common)


def reference_of(subject: Subject, subjects: Sequence[Subject]) -> str:
    """Return what a variant is compared with: its framework's baseline, else the first of all."""
    own = [s for s in subjects if s.baseline and s.framework == subject.framework]
    return (own or list(subjects))[0].id


def winners(runs: Sequence[Run]) -> dict[Measure, tuple[str, ...]]:
    """Return the fastest of each measure that several variants have, or all that may be it."""
    found = {}
    for measure, taken in _taken(runs).items():
        if len(taken) > 1:
            medians = {name: one.summary.median for name, one in taken.items()}
            first = (max if measure.unit in RATES else min)(medians, key=medians.__getitem__)
            found[measure] = tuple(
                name
                for name, one in taken.items()
                if name == first or not _ratio(taken[first], one, measure.unit)[0].told
            )
    return found


def unlike(found: Sequence[Row]) -> list[str]:
    """Say where graphs differed, from start to start or between variants, or one start is all."""
    said = []
    for row in found:
        graphs = row.graphs
        if row.ratio and row.ratio.starts == 1 and row.ratio.rounds > 1:
            said.append(
                f"{row.measure.told}: {row.subject} was started once: the interval does not say "
                "what another start would give"
            )
        if graphs.kinds > 1:
            said.append(
                f"{row.measure.told}: {row.subject} compiled to {graphs.kinds} graphs; its figures "
                f"are of the one that came in {graphs.came} of {graphs.rounds} rounds"
            )
        if row.ratio and row.common is None and graphs.usual is not None:
            said.append(f"{row.measure.told}: {row.subject} has another graph than {row.reference}")
        elif row.ratio and row.common != graphs.usual:
            said.append(
                f"{row.measure.told}: the ratio of {row.subject} is of another graph than its "
                f"figures: of one that {row.reference} has too"
            )
    return said


def _ratio(mine: _Taken, theirs: _Taken, unit: str) -> tuple[Ratio, str | None]:
    """Compare like graphs only where there are such, and name the graph."""
    shared = set(mine.by_graph) & set(theirs.by_graph)
    common = min(
        shared,
        key=lambda g: (-min(len(mine.by_graph[g]), len(theirs.by_graph[g])), g or ""),
        default=None,
    )
    ours = mine.by_graph[common if shared else mine.usual]
    others = theirs.by_graph[common if shared else theirs.usual]
    pairs = [(number, number) for number in sorted(set(ours) & set(others))]
    if len(pairs) < LEAST_ROUNDS:
        # The graph seldom came to both in one round: rounds of different times must do.
        pairs = list(zip(sorted(ours), sorted(others), strict=False))
    left = [statistics.median(ours[a]) for a, _ in pairs]
    right = [statistics.median(others[b]) for _, b in pairs]
    starts = [(mine.starts[a], theirs.starts[b]) for a, b in pairs]
    return speedup(left, right, unit, starts), common


def _taken(runs: Sequence[Run]) -> dict[Measure, dict[str, _Taken]]:
    """Return what was taken, by measure and variant."""
    found: dict[Measure, dict[str, _Taken]] = {}
    for run in runs:
        for series in run.series:
            measure = Measure(series.name, run.threads, series.unit)
            taken = found.setdefault(measure, {}).setdefault(run.subject, _Taken({}, {}))
            taken.starts[run.round] = run.start or run.round
            taken.by_graph.setdefault(series.graph, {})[run.round] = series.samples
    return found
