"""The answers and the short table as Markdown, for readers of the repository."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from stacks.core.console import plural
from stacks.timings import article, columns, devices
from stacks.timings.article import Steps
from stacks.timings.columns import Column
from stacks.timings.devices import DeviceReport
from stacks.timings.locks import CurrentLock
from stacks.timings.machine import Cell, MachineTable, interval
from stacks.timings.view import Across, Choice, Slower, View

HEADER = """\
# Timings

Which environment is fastest? `./invoke publish` writes this page from [results/](../results). \
Do not edit it.
"""
FIRST = """\
Take the framework that you import, with `openblas`. To time your program: \
`./invoke recommend -- python train.py`.
"""
TIMES = """\
**How many times as fast as `pip-default`** (pip's packages alone) of the same framework, in the \
same rounds, with the 94% interval. Bold: the interval excludes 1. A cell names its flavour if it \
is not the one to take. \\* compiled to another graph. PyTensor's figures are of its C linker, \
which 3.3.7 uses with `PYTENSOR_FLAGS=linker=cvm` only.
"""
NO_ACROSS = """\
Not measured: no campaign has timed one flavour of each framework in the same rounds. Ratios above \
stay within a framework.
"""
# Marks an environment whose lock has changed since, a figure of an older lock than others of its
# row, and a ratio to another graph.
OLDER, OLDER_FIGURE, OTHER_GRAPH = "&Dagger;", "&dagger;", "\\*"
NOT_MEASURED = "not measured"
MARKS = re.compile(r"([\\`*_\[\]|~#])")


def text(value: str) -> str:
    """Return a text of a result on one line, with Markdown and HTML escaped."""
    return MARKS.sub(r"\\\1", html.escape(" ".join(value.split()), quote=False))


def document(view: View) -> str:
    """Return the whole document."""
    parts = [HEADER]
    if view.machines:
        first = view.machines[0]
        parts += [*_answers(view, first), *_slower(view.slower), *_costs(view)]
        parts += ["## Which framework?\n", _across(view.across) if view.across else NO_ACROSS]
        parts += [f"## All flavours on {text(first.name)}\n", _about(first), _table(first)]
    if view.steps:
        parts += ["## An article's three steps\n", _steps(view.steps[0])]
    if view.devices:
        parts += ["## Devices\n", *(_device(one, view.current) for one in view.devices)]
    return "\n".join([*parts, _method(view)])


def _answers(view: View, table: MachineTable) -> list[str]:
    dates = sorted(session.result.began[:10] for session in table.sessions)
    about = f"Measured on {text(table.name)}, {text(table.cpu)}, {dates[0]} to {dates[-1]}. {FIRST}"
    rows = []
    for answer in view.answers:
        choices = [answer.choice(framework) for framework in table.frameworks]
        cells = [_choice(each, answer.take) if each else "" for each in choices]
        rows.append([answer.column.question, f"`{answer.take}`", *cells])
    rows += [[kind, NOT_MEASURED, *[""] * len(table.frameworks)] for kind in columns.NOT_MEASURED]
    heads = ["my program is mostly", "take", *map(text, table.frameworks)]
    return ["## Which flavour?\n", about, TIMES, _rows(heads, rows)]


def _choice(choice: Choice, usual: str) -> str:
    name = "" if choice.flavour == usual else f"`{text(choice.flavour)}` "
    return name + _times(choice.cell)


def _times(cell: Cell) -> str:
    """Return how many times as fast, bold if that is clear."""
    marks = OTHER_GRAPH * cell.other_graph + OLDER_FIGURE * cell.is_older
    times = f"**{cell.times}**" if cell.is_difference else cell.times
    return times + marks


def _short(cell: Cell) -> str:
    """Return how many times as fast without the interval; the figure of a baseline."""
    if cell.ratio is None:
        return cell.figure + OLDER_FIGURE * cell.is_older
    times = f"{cell.ratio.value:.2f}"
    marks = OTHER_GRAPH * cell.other_graph + OLDER_FIGURE * cell.is_older
    return (f"**{times}**" if cell.is_difference else times) + marks


def _slower(every: Sequence[Slower]) -> list[str]:
    if not every:
        return []
    lines = []
    for one in every:
        values = sorted(ratio.value for ratio in one.ratios.values())
        worst = min(one.ratios.values(), key=lambda ratio: ratio.value)
        least = f"{values[0]:.2f} ({interval(worst)})"
        lines.append(
            f"- `{text(one.flavour)}` for {one.column.question}: at worst {least} times as fast, "
            f"slower with {len(values)} of {plural(one.frameworks, 'framework')}"
        )
    return ["**Avoid**, being slower than `pip-default`:\n", "\n".join(lines) + "\n"]


def _costs(view: View) -> list[str]:
    if not view.downloads:
        return []
    least, most = view.downloads
    return [
        f"**Cost**: {least / 1e6:.0f} to {most / 1e6:.0f} MB of download (see the table). Seconds "
        f"to a verified environment, disk and image: {NOT_MEASURED} in these results.\n"
    ]


def _across(across: Across) -> str:
    programs = list(dict.fromkeys(one.program for one in across.timed))
    environments = dict.fromkeys((one.environment, one.by) for one in across.timed)
    cells = {(one.environment, one.by, one.program): one for one in across.timed}
    rows = []
    for environment, by in environments:
        row = [text(environment), text(by)]
        for program in programs:
            one = cells.get((environment, by, program))
            times = f" {one.ratio.value:.2f} ({interval(one.ratio)})" if one and one.ratio else ""
            row.append(text(one.figure) + times if one else "")
        rows.append(row)
    result = across.session.result
    about = (
        f"The same steps in the same rounds on {text(result.machine.name)}, {result.began[:10]}; "
        f"and how many times as fast as {text(across.timed[0].reference)}.\n"
    )
    return about + "\n" + _rows(["environment", "by", *map(text, programs)], rows)


def _about(table: MachineTable) -> str:
    peaks = f" Measured peak: {text(table.peaks)}." if table.peaks else ""
    return f"{text(table.hardware)}.{peaks}\n"


def _table(table: MachineTable) -> str:
    """Return the short table: the baselines' figures, and how many times as fast others are."""
    heads: list[Column] = columns.in_table(table.columns)
    rows = []
    for row in table.rows:
        cells = [row.cells[column] for column in heads]
        if not any(cell.figure for cell in cells):
            continue
        images = "".join(f" (image {text(digest)})" for digest in row.images)
        is_marked = not row.is_current and not table.is_of_older_locks
        name = text(row.name) + images + OLDER * is_marked
        size = f"{row.size / 1e6:.0f}" if row.size is not None else ""
        rows.append([name, size, *map(_short, cells)])
    notes = [
        "All are of older locks than this checkout's."
        if table.is_of_older_locks
        else f"{OLDER} an older lock than this checkout's."
        * any(not row.is_current for row in table.rows),
        f"{OLDER_FIGURE} an older lock than the row's." * table.has_older,
        f"{OTHER_GRAPH} compiled to another graph."
        * any(row.cells[column].other_graph for row in table.rows for column in heads),
    ]
    names = ["environment", "download, MB", *(column.kind for column in heads)]
    return _rows(names, rows) + "\n" + " ".join(filter(None, notes)) + "\n"


def _steps(ours: Steps) -> str:
    theirs = article.article()
    names = ", ".join(step.flavour for step in theirs.steps)
    session = ours.session
    where = f", {text(session.machine.cpu)}, {session.result.began[:10]}" if session else ""
    return (
        f"100 training steps of a neural Turing machine with {names}. The article of 2017, one run "
        f"of each on a machine that it does not name: {_seconds(theirs)}. Ours, `ntm` of the same "
        f"shape{where}: {_seconds(ours)}.\n"
    )


def _seconds(steps: Steps) -> str:
    seconds = ", ".join(f"{step.seconds:.1f}" for step in steps.steps)
    times = ", ".join(
        f"{step.times:.2f}"
        + (f" ({interval(step.ratio)})" if step.ratio else "")
        + OTHER_GRAPH * step.other_graph
        for step in steps.steps[1:]
    )
    return f"{seconds} s, so {times} times as fast"


def _device(report: DeviceReport, current: Mapping[str, CurrentLock]) -> str:
    every = devices.products(report)
    lock = current.get(report.id)
    older = OLDER if lock and report.contents != lock.digests else ""
    least = min((one.theano / one.alone for one in every), default=0)
    rates = [one.theano for one in every]
    products = (
        f". {plural(len(every), 'product')} at {min(rates):,.0f} to {max(rates):,.0f} GFLOP/s, at "
        f"least {least:.0%} of the device's BLAS alone"
        if every
        else ""
    )
    return (
        f"{text(report.device.name)}, {text(report.id)}{older}, {text(report.machine.cpu)}: "
        f"{text(devices.counted(report.checks))}{products}.\n"
    )


def _method(view: View) -> str:
    others = ", ".join(text(table.name) for table in view.machines[1:])
    return (
        "## How it was measured\n\n"
        f"In {plural(len(view.sessions), 'session')} of `./invoke bench`, turn by turn "
        "([settings](guides/bench.md)). `./invoke publish` also writes "
        "`site/index.html`, with every measure, versions, sessions"
        + (f", and other machines: {others}" if others else "")
        + ". `./invoke results` prints quartiles.\n"
    )


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    bars = "|".join("---" for _ in heads)
    lines = [f"| {' | '.join(row)} |" for row in (heads, *rows)]
    return "\n".join([lines[0], f"|{bars}|", *lines[1:]]) + "\n"
