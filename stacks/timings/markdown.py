"""The results as Markdown, for readers of the repository."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from stacks.bench.rows import beside
from stacks.core.console import plural
from stacks.timings import article, devices, summary
from stacks.timings.columns import Column, load
from stacks.timings.current import CurrentLock
from stacks.timings.devices import DeviceReport
from stacks.timings.sessions import ResultSession
from stacks.timings.summary import Cell, Summary

HEAD = """# Timings

Made by `./invoke publish` from [results/](../results), which have every sample, version and \
lock; do not edit. [site/index.html](../site/index.html) has all figures, with plots of where \
the time of a call goes. [bench.md](guides/bench.md) explains how they are measured.
"""
ABOUT = """Newest figures of each environment on all processors. Below each: how many times as \
fast as the framework's `pip-default` in the same rounds, with the 94% interval, **bold** where \
the interval excludes 1. Percentages are of the machine's measured peak. The seconds \
of `check_blas` are of ten calls. A first step is a program's compilation, its C code being \
cached, and one call.
"""
ABOUT_DEVICES = """Reports of the verification of a device ([gpu.md](guides/gpu.md)). Medians of \
turns in one process: the product `0.4 C + 0.8 A B` by Theano, and by the device's BLAS without \
Theano. Moving a graph is in seconds of processor time.
"""
# Marks an environment whose lock has changed since, and a figure older than others of its row.
OLDER, OLDER_FIGURE = " (older lock)", "&dagger;"
ABOUT_OLDER = f"\n{OLDER_FIGURE} of an older lock than the newest figures of the row.\n"
MARKS = re.compile(r"([\\`*_\[\]|~#])")


def text(value: str) -> str:
    """Return a text of a result on one line, with Markdown and HTML escaped."""
    return MARKS.sub(r"\\\1", html.escape(" ".join(value.split()), quote=False))


def document(
    sessions: Sequence[ResultSession],
    current: Mapping[str, CurrentLock],
    reports: Sequence[DeviceReport] = (),
) -> str:
    """Return the whole document; `current` are the locks of this checkout, `reports` of devices."""
    every = summary.summaries(sessions, current)
    parts = [HEAD]
    if sentence := summary.headline(every):
        parts.append(f"**{text(sentence)}**\n")
    if every:
        first = every[0]
        table = _summary(first, first.short)
        parts += [f"## Summary: {text(first.machine)}\n", _hardware(first), ABOUT, table]
        parts += [ABOUT_OLDER] * first.has_older
    steps = article.ours(sessions)
    if steps:
        parts.append(_steps([article.article(), *steps]))
    if reports:
        parts += ["## Devices\n", ABOUT_DEVICES]
        parts += [_device(each, current.get(each.id)) for each in reports]
    parts.append("## Details\n")
    parts += [_machine(each, each.short if each is every[0] else ()) for each in every]
    parts.append(_sessions(sessions))
    return "\n".join(parts)


def _machine(machine: Summary, shown: Sequence[Column]) -> str:
    """Return the columns of a machine that are not shown yet, idle and busy, folded."""
    left = [column for column in machine.columns if column not in shown]
    tables = []
    for busy in sorted({column.busy for column in left}):
        title = (beside(busy).strip() or load(busy)).capitalize()
        of = [column for column in left if column.busy == busy]
        tables += [f"**{title}**\n", _summary(machine, of)]
    return _folded(summary.counted(machine), "\n".join([_hardware(machine), *tables]))


def _hardware(machine: Summary) -> str:
    peaks = f" Peak: {text(machine.peaks)}." if machine.peaks else ""
    return f"{text(machine.hardware)}.{peaks}\n"


def _summary(machine: Summary, columns: Sequence[Column]) -> str:
    """Return some columns of a machine as a table, without rows that are empty there."""
    rows = []
    for row in machine.rows:
        pairs = zip(machine.columns, row.cells, strict=True)
        cells = [cell for column, cell in pairs if column in columns]
        if any(cell.figure for cell in cells):
            images = "".join(f" (image {text(digest)})" for digest in row.images)
            name = text(row.environment) + images + ("" if row.is_current else OLDER)
            rows.append([name, text(row.blas), row.size, *map(_cell, cells)])
    ordered = [column for column in machine.columns if column in columns]
    heads = " | ".join(["environment", "BLAS", "download", *(one.title for one in ordered)])
    return "\n".join(_table(heads, rows)) + "\n"


def _cell(cell: Cell) -> str:
    figure = cell.figure + (OLDER_FIGURE if cell.is_older else "")
    ratio = f"**{cell.ratio}**" if cell.is_difference else cell.ratio
    return f"{figure}<br>{ratio}" if ratio else figure


def _sessions(sessions: Sequence[ResultSession]) -> str:
    """Return a line for each session: what was timed when, how, by which commit."""
    lines = [
        f"- {text(one.machine.name)}, {one.result.began}: "
        f"{text(', '.join(one.result.settings.workloads))}; {one.method}; commit {one.commit}"
        + "".join(f"; {text(remark)}" for remark in one.result.remarks)
        for one in sessions
    ]
    return _folded(plural(len(lines), "session"), "\n".join(lines) + "\n")


def _device(report: DeviceReport, current: CurrentLock | None) -> str:
    """Return a device's products and moves of graphs as tables."""
    device, machine = report.device, report.machine
    packages = {(one.name, one.sha256) for one in report.packages}
    older = OLDER if current and packages != current.packages else ""
    about = f"{device.driver}; {report.id}{older}; {machine.cpu}, " + (
        f"{plural(machine.cores, 'core')}; {devices.counted(report.checks)}."
    )
    rows = [
        [
            text(one.name),
            f"{one.theano:,.0f}",
            f"{one.alone:,.0f}",
            f"{one.theano / one.alone:.2f}",
            f"{one.theano / one.peak:.0%}" if one.peak else "",
        ]
        for one in devices.products(report)
    ]
    heads = "product | Theano, GFLOP/s | the BLAS alone | ratio | of the nominal peak"
    moved = [
        [text(graph), f"{new:.2f}", f"{old:.2f}", f"{new / old:.2f}"]
        for graph, new, old in devices.moves(report)
    ]
    ways = "moving a graph to the device | GraphToGPU, s | the local optimiser | ratio"
    lines = [f"### {text(device.name)}", "", text(about), "", *_table(heads, rows)]
    return "\n".join([*lines, "", *(_table(ways, moved) if moved else [])]) + "\n"


def _folded(title: str, content: str) -> str:
    """Return a part that a reader opens; the blank lines let its Markdown be read as such."""
    return f"<details><summary>{text(title)}</summary>\n\n{content}\n</details>\n"


def _steps(every: Sequence[article.Steps]) -> str:
    lines = ["## The article's three steps", "", article.ABOUT, ""]
    rows = [
        [
            text(one.title),
            text(step.flavour),
            f"{step.seconds:.1f}",
            f"{step.part:.3f}",
            step.interval,
        ]
        for one in every
        for step in one.steps
    ]
    heads = "where | step | seconds of 100 calls | part of the first step's time | interval"
    return "\n".join([*lines, *_table(heads, rows)]) + "\n"


def _table(heads: str, rows: Sequence[Sequence[str]]) -> list[str]:
    bars = "|".join("---" for _ in heads.split("|"))
    return [f"| {heads} |", f"|{bars}|", *(f"| {' | '.join(row)} |" for row in rows)]
