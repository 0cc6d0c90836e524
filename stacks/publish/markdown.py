"""The results as Markdown, for readers of the repository."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from stacks.publish import article, summary
from stacks.publish.current import CurrentLock
from stacks.publish.sessions import ResultSession
from stacks.publish.summary import Summary

HEAD = """# Timings

Made by `./invoke publish` from [results/](../results), which have every sample, version and \
lock; do not edit. [site/index.html](../site/index.html) has all figures, with plots of where \
the time of a call goes. [bench.md](guides/bench.md) explains how they are measured.

The summary has the newest figure of each environment on all processors: below it, how many \
times as fast as the framework's `pip-default` in the same rounds, with the 95% interval. \
Percentages are of the machine's measured peak. Devices are timed by their verification \
([gpu.md](guides/gpu.md)); CUDA has not been run on a GPU.
"""
# Marks an environment whose lock has changed since.
OLDER = " (older lock)"
MARKS = re.compile(r"([\\`*_\[\]|~#])")


def text(value: str) -> str:
    """Return a text of a result on one line, with Markdown and HTML escaped."""
    return MARKS.sub(r"\\\1", html.escape(" ".join(value.split()), quote=False))


def document(sessions: Sequence[ResultSession], current: Mapping[str, CurrentLock]) -> str:
    """Return the whole document; `current` are the locks of this checkout."""
    every = summary.summaries(sessions, current)
    parts = [HEAD]
    if sentence := summary.headline(every):
        parts.append(f"**{text(sentence)}**\n")
    parts += [_summary(each) for each in every if each.rows]
    steps = article.ours(sessions)
    if steps:
        parts.append(_steps([article.article(), *steps]))
    parts.append(_sessions(sessions))
    return "\n".join(parts)


def _summary(machine: Summary) -> str:
    rows = [
        [
            text(row.environment)
            + "".join(f" (image {text(digest)})" for digest in row.images)
            + ("" if row.is_current else OLDER),
            text(row.blas),
            row.size,
            *(
                f"{cell.figure}<br>{cell.ratio}" if cell.ratio else cell.figure
                for cell in row.cells
            ),
        ]
        for row in machine.rows
    ]
    heads = " | ".join(["environment", "BLAS", "download", *machine.heads])
    lines = [
        f"## {text(machine.machine)}",
        "",
        f"{text(machine.hardware)}." + (f" Peak: {text(machine.peaks)}." if machine.peaks else ""),
        "",
        *_table(heads, rows),
    ]
    return "\n".join(lines) + "\n"


def _sessions(sessions: Sequence[ResultSession]) -> str:
    """Return a line for each session: what was timed when, how, by which commit."""
    lines = [
        f"- {text(one.machine.name)}, {one.result.began}: "
        f"{text(', '.join(one.result.settings.workloads))}; {one.method}; commit {one.commit}"
        + "".join(f"; {text(remark)}" for remark in one.result.remarks)
        for one in sessions
    ]
    return "\n".join(["## Sessions", "", *lines]) + "\n"


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
