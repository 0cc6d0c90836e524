"""The figures in the README, and of chains in the PyMC guide, are those in results/."""

import re
import statistics
from collections.abc import Sequence

import pytest

from stacks.bench import store
from stacks.bench.result import Result
from stacks.bench.rows import Row
from stacks.bench.rows import rows as measured
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.timings import beside, view

TEXT = (REPOSITORY / "README.md").read_text(encoding="utf-8")
# {what a column of the README's table is about: the measure in a result}.
MEASURES = {
    "Product of 5000 \u00d7 5000, float64": "check_blas 5000",
    "Step of a small dense network": "mlp step",
    "Step of an LSTM": "lstm merged",
    "Gaussian process in PyMC \u2021": beside.SAMPLINGS.pattern,
}
CHECKOUT = Workspace(REPOSITORY, REPOSITORY / "build")
[SAMPLING] = beside.SAMPLINGS.read_all(CHECKOUT)[0]


@pytest.fixture(scope="module")
def campaign() -> dict[str, Result]:
    """{framework: its newest idle result on the machine that the README names}."""
    [machine] = set(re.findall(r"`results/([\w-]+)`", TEXT))
    timed = {*MEASURES.values()} - {beside.SAMPLINGS.pattern}
    stored, _ = store.read_all(CHECKOUT)
    found: dict[str, Result] = {}
    for result in sorted((each.result for each in stored), key=lambda each: each.began):
        names = {series.name for run in result.runs for series in run.series}
        idle = result.machine.name == machine and not result.settings.busy
        if idle and timed <= names:
            found[result.subjects[0].id.partition("/")[0]] = result
    return found


def rows() -> dict[str, dict[str, str]]:
    """Return {framework: {measure: cell}} of the README's table of gains."""
    table = TEXT.partition("## What you gain")[2].partition("\n## ")[0]
    head, _, *lines = [line for line in table.splitlines() if line.startswith("|")]
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    names = [MEASURES[cell.strip()] for cell in head.strip("|").split("|")[1:]]
    return {cells[0].partition(",")[0]: dict(zip(names, cells[1:], strict=True)) for cells in split}


def shown(row: Row) -> str:
    """Return a ratio as the README shows it."""
    ratio = row.ratio
    assert ratio is not None
    if row.other_graph:
        return f"{ratio.value:.1f} \u2020"
    return f"{ratio.value:.1f}" if ratio.significant else "uncertain"


def gain(framework: str) -> str:
    """Return how many times as fast chains are, as the README shows it; "" where not measured."""
    found = view.gain(SAMPLING, framework)
    if not found.ratio:
        return ""
    runner = ", numba" if framework == "pytensor-3.3.7" else ""
    if not found.ratio.significant:
        return f"uncertain{runner}"
    value = found.ratio.value
    return (f"over {int(value)}" if found.is_bound else f"{value:.1f}") + runner


def test_every_figure_is_that_of_the_campaign(campaign: dict[str, Result]) -> None:
    expected = {
        framework: {
            row.measure.name: shown(row)
            for row in measured(result.runs, result.subjects)
            if row.subject.endswith("/openblas") and row.measure.name in MEASURES.values()
        }
        | {beside.SAMPLINGS.pattern: gain(framework)}
        for framework, result in campaign.items()
    }
    assert len(expected) == 6 and rows() == expected


def test_the_dates_are_those_of_the_campaign(campaign: dict[str, Result]) -> None:
    days = sorted({result.began[:10] for result in campaign.values()})
    line = next(line for line in TEXT.splitlines() if "`results/" in line)
    first, *others = days
    assert first in line
    assert all(f"and {int(day[-2:])}" in line for day in others)


def test_the_chains_of_pymc_are_those_of_the_campaign() -> None:
    def median(starts: Sequence[float | None]) -> str:
        seconds = statistics.median(each or SAMPLING.limit for each in starts)
        return f"{seconds:.1f}" if seconds < SAMPLING.limit else f"over {seconds:.0f}"

    guide = (REPOSITORY / "docs/guides/pymc.md").read_text(encoding="utf-8")
    for one in SAMPLING.programs:
        cells = " | ".join(median(starts) for starts in (one.chosen, one.one, one.pip))
        version = one.name.removeprefix("PyMC ")
        assert re.search(rf"^\| {re.escape(version)}(, numba)? \| {cells} \|$", guide, re.M)
    assert all(SAMPLING.date in text for text in (TEXT, guide))


def test_the_readme_has_no_other_ratio() -> None:
    """Gains are in the table alone: nothing else is called N times as fast."""
    prose = "\n".join(line for line in TEXT.splitlines() if not line.startswith("|"))
    assert re.findall(r"[\d.]+ times", prose) == []
