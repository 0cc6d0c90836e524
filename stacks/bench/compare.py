"""From runs to rows: medians, ratios to the baseline, who is the fastest."""

from __future__ import annotations

import collections
import dataclasses
import statistics as builtin
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.results import NUMBA, Run, Subject
from stacks.bench.statistics import Ratio, Summary, fastest, speedup, summary


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
    """How often the graph that is compared came, of how many rounds; `kinds` differ in all."""

    usual: str | None
    came: int
    rounds: int
    kinds: int


@dataclass(frozen=True)
class Row:
    """A variant's figures of one measure; `ratio` is to `reference`, whose graph may be `like`."""

    measure: Measure
    subject: str
    summary: Summary
    reference: str
    ratio: Ratio | None
    graphs: Graphs
    like: bool


@dataclass(frozen=True)
class _Taken:
    """A variant's value of each round in which its usual graph was compiled, and all samples."""

    values: dict[int, float]
    samples: tuple[float, ...]
    graphs: Graphs


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
    ratio, like = None, True
    if theirs and reference != subject.id:
        pair = _pairs(mine, theirs)
        ratio = speedup(*pair, measure.unit) if pair[0] else None
        like = mine.graphs.usual == theirs.graphs.usual
    return Row(measure, subject.id, summary(mine.samples), reference, ratio, mine.graphs, like)


def reference_of(subject: Subject, subjects: Sequence[Subject]) -> str:
    """Return what a variant is compared with: its framework's baseline, else the first of all."""
    own = [s for s in subjects if s.baseline and s.framework == subject.framework]
    return (own or list(subjects))[0].id


def winners(runs: Sequence[Run]) -> dict[Measure, tuple[str, ...]]:
    """Return the fastest of each measure that more than one variant has, or all that may be it."""
    found = {}
    for measure, taken in _taken(runs).items():
        common = set.intersection(*(set(one.values) for one in taken.values()))
        if len(taken) > 1 and common:
            rounds = {
                name: [one.values[number] for number in sorted(common)]
                for name, one in taken.items()
            }
            found[measure] = fastest(rounds, measure.unit)
    return found


def unlike(found: Sequence[Row]) -> list[str]:
    """Say where graphs differed: from start to start of one variant, or between two variants."""
    said = []
    for row in found:
        if row.graphs.kinds > 1:
            said.append(
                f"{row.measure.told}: {row.subject} compiled to {row.graphs.kinds} graphs; the "
                f"figures are of the one that came in {row.graphs.came} of {row.graphs.rounds} "
                "rounds"
            )
        if row.ratio and not row.like:
            said.append(f"{row.measure.told}: {row.subject} has another graph than {row.reference}")
    return said


def _pairs(mine: _Taken, theirs: _Taken) -> tuple[list[float], list[float]]:
    both = sorted(set(mine.values) & set(theirs.values))
    return [mine.values[n] for n in both], [theirs.values[n] for n in both]


def _taken(runs: Sequence[Run]) -> dict[Measure, dict[str, _Taken]]:
    """Return what was taken, by measure and variant; only like graphs are put together."""
    raw: dict[Measure, dict[str, list[tuple[int, str | None, tuple[float, ...]]]]] = {}
    for run in runs:
        for series in run.series:
            measure = Measure(series.name, run.threads, series.unit)
            of_subject = raw.setdefault(measure, {}).setdefault(run.subject, [])
            of_subject.append((run.round, series.graph, series.samples))
    return {
        measure: {name: _usual(taken) for name, taken in by_subject.items()}
        for measure, by_subject in raw.items()
    }


def _usual(taken: Sequence[tuple[int, str | None, tuple[float, ...]]]) -> _Taken:
    counts = collections.Counter(graph for _, graph, _ in taken)
    # Of graphs that came as often, the same one every time this is read.
    usual = min(counts, key=lambda graph: (-counts[graph], graph or ""))
    kept = [(number, samples) for number, graph, samples in taken if graph == usual]
    return _Taken(
        values={number: builtin.median(samples) for number, samples in kept},
        samples=tuple(sample for _, samples in kept for sample in samples),
        graphs=Graphs(usual, len(kept), len(taken), len(counts)),
    )
