"""The figures of a result: medians, ratios to the baseline, the fastest variants; their table."""

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacks.bench.intervals import (
    LEAST_STARTS,
    RATES,
    Ratio,
    Summary,
    number,
    scale,
    speedup,
    summary,
)
from stacks.bench.result import Result, Run, Series, Subject
from stacks.bench.schedule import ALIKE
from stacks.core.console import plural
from verify.workloads.rounds import NUMBA


@dataclass(frozen=True)
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
        """The measure for people; a user's program has its own number of threads."""
        return f"{self.label}, {plural(self.threads, 'thread')}" if self.threads else self.label


def beside(busy: int) -> str:
    """Return the end of a measure's label that names its busy loops, empty without any."""
    return f" beside {plural(busy, 'busy loop')}" if busy else ""


@dataclass(frozen=True)
class Row:
    """A variant's figures of one measure, which are of its most frequent graph.

    ratio: to the variant `reference`. other_graph: it is to another graph, because both have none
    in common. notes: what a reader must know of the graphs and starts.
    """

    measure: Measure
    subject: str
    summary: Summary
    reference: str
    ratio: Ratio | None
    other_graph: bool
    notes: tuple[str, ...]


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
    def summary(self) -> Summary:
        """The figures of the usual graph."""
        taken = self.by_graph[self.usual].values()
        return summary([sample for samples in taken for sample in samples])


def rows(runs: Sequence[Run], subjects: Sequence[Subject]) -> list[Row]:
    """Return the figures of the runs of a result, compared with each framework's baseline.

    Without a baseline the first variant is the reference.
    """
    baselines = {each.framework: each.id for each in subjects if each.baseline}
    return compared(
        runs, {each.id: baselines.get(each.framework, subjects[0].id) for each in subjects}
    )


def compared(runs: Sequence[Run], references: Mapping[str, str]) -> list[Row]:
    """Return all figures of the runs, by measure in order of appearance, then by variant.

    references: {variant: the one that it is compared with}.
    """
    every = _taken(runs)
    return [
        _row(measure, name, reference, every)
        for measure, taken in every.items()
        for name, reference in references.items()
        if name in taken
    ]


def _row(
    measure: Measure, name: str, reference: str, every: Mapping[Measure, Mapping[str, _Taken]]
) -> Row:
    mine = every[measure][name]
    # Without a figure of numba, the reference's figure of C is compared.
    plain = dataclasses.replace(measure, name=measure.name.removesuffix(NUMBA))
    theirs = every[measure].get(reference) or every.get(plain, {}).get(reference)
    ratio, common = None, mine.usual
    if theirs and reference != name:
        ratio, common = _ratio(mine, theirs, measure.unit)
    is_other = ratio is not None and common is None and mine.usual is not None
    notes = []
    if ratio and ratio.starts < min(LEAST_STARTS, ratio.rounds):
        notes.append(
            f"{name} has no interval: it takes {LEAST_STARTS} starts, and there were {ratio.starts}"
        )
    if len(mine.by_graph) > 1:
        rounds = sum(map(len, mine.by_graph.values()))
        notes.append(
            f"{name} compiled to {len(mine.by_graph)} graphs; its figures are of the one that came "
            f"in {len(mine.by_graph[mine.usual])} of {rounds} rounds"
        )
    if is_other:
        notes.append(f"{name} has another graph than {reference}")
    elif common != mine.usual:
        notes.append(
            f"the ratio of {name} is of another graph than its figures: of one that {reference} "
            "has too"
        )
    titled = tuple(f"{measure.title}: {note}" for note in notes)
    return Row(measure, name, mine.summary, reference, ratio, is_other, titled)


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
            taken.starts[run.round] = run.round if run.workload in ALIKE else run.start
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


def show(result: Result) -> None:
    """Print a result: its machine, a line for each figure, the fastest variants, notes."""
    machine = result.machine
    print(
        f"{machine.name}: {machine.cpu}, {machine.cores} cores; {result.settings.rounds} rounds, "
        f"begun {result.began}\n"
    )
    measured = rows(result.runs, result.subjects)
    for line in [*lines(measured), "", *winner_sentences(result.runs, display_names(measured))]:
        print(line)
    for note in notes(result, measured):
        print(f"note: {note}")


def winner_sentences(runs: Sequence[Run], names: Mapping[str, str]) -> list[str]:
    """Return a sentence for each measure that several variants have: the fastest, if one is.

    names: {variant's id: its name for people}.
    """
    return [
        f"{measure.title}: {names[fastest[0]]} is the fastest"
        if len(fastest) == 1
        else f"{measure.title}: no clear winner: {', '.join(map(names.__getitem__, fastest))} "
        "differ only by noise"
        for measure, fastest in winners(runs).items()
    ]


def notes(result: Result, measured: Sequence[Row]) -> list[str]:
    """Return what a reader must know: what did not answer, graphs that differ, the remarks."""
    missing = [
        f"{one.name}, {plural(one.threads, 'thread')}: {one.subject} {one.reason}"
        + ("" if one.failure else "; --limit gives it more time")
        for one in result.missing
    ]
    return [*missing, *(note for row in measured for note in row.notes), *result.remarks]


def display_names(measured: Sequence[Row]) -> dict[str, str]:
    """Return {variant's id: its name}, with its framework if the rows have several."""
    ids = dict.fromkeys(row.subject for row in measured)
    has_one = len({each.rpartition("/")[0] for each in ids}) == 1
    return {each: each.rpartition("/")[2] if has_one else each for each in ids}


def lines(measured: Sequence[Row]) -> list[str]:
    """Return a heading for each measure and a line for each variant, for 80 columns."""
    names = display_names(measured)
    width = max(map(len, names.values()))
    table = [f"  {'':{width}}  {'median':>6}  {'quartiles':>13}  {'ratio':>5}  interval"]
    last, of_measure = None, 1.0
    for row in measured:
        if row.measure != last:
            of_measure, unit = scale(row.summary.median, row.measure.unit)
            table.append(f"{row.measure.title}, {unit}")
            last = row.measure
        figures, ratio = row.summary, row.ratio
        median, low, high = (
            number(value * of_measure) for value in (figures.median, figures.low, figures.high)
        )
        table.append(
            f"  {names[row.subject]:{width}}  {median:>6}  {f'{low} - {high}':>13}"
            + (f"  {ratio.value:5.2f}  {ratio.interval}" if ratio else "")
        )
    return table
