"""The view as Markdown, for readers of the repository, and as one self-contained web page.

The templates beside this module have the prose; the tables of the Markdown are made here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

import jinja2

from stacks.bench.result import Machine
from stacks.bench.table import number
from stacks.core.console import plural
from stacks.timings import columns, picture
from stacks.timings.view import Across, Cell, MachineTable, Step, View

HERE = Path(__file__).resolve().parent
MARKS = re.compile(r"([\\`*_\[\]|~#])")
# Marks an environment whose lock has changed since, a figure of an older lock than others of its
# row, and a ratio to another graph.
OLDER, OLDER_FIGURE, OTHER_GRAPH = "&Dagger;", "&dagger;", "\\*"


def markdown(view: View) -> str:
    """Return the answers and the short table as Markdown; all texts of the results are escaped."""
    tables: dict[str, object] = {}
    for table in view.machines[:1]:
        heads = columns.in_table(table.columns)
        tables["answers"] = _answers(view, table)
        tables["short_table"] = _short_table(table)
        tables["has_other_graph"] = any(
            row.cells[column].other_graph for row in table.rows for column in heads
        )
    if view.across:
        tables["across"] = _across(view.across)
    return _rendered("page.md.jinja", view, **tables)


def page(view: View) -> str:
    """Return the whole web page; all texts of the results are escaped."""
    drawn, filters = picture.drawing(view), _filters(view)
    text = _rendered(
        "page.html.jinja",
        view,
        picture=drawn,
        filters=filters,
        load=load,
        in_table=columns.in_table,
        elsewhere=columns.ELSEWHERE,
    )
    return text.lstrip()


def _rendered(name: str, view: View, **more: object) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=name.endswith(".html.jinja"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"text": escaped, "times": _times_of_step, "tenths": "{:.1f}".format}
    template = environment.get_template(name)
    return template.render(view=view, hardware=hardware, peaks=peaks, plural=plural, **more)


def escaped(value: str) -> str:
    """Return a text of a result on one line, with Markdown and HTML escaped."""
    return MARKS.sub(r"\\\1", html.escape(" ".join(value.split()), quote=False))


def hardware(machine: Machine) -> str:
    """Return a machine for people."""
    return (
        f"{machine.cpu} ({machine.vendor} {machine.model}, microcode {machine.microcode}), "
        f"{machine.cores} cores, {machine.memory / 2**30:.0f} GiB, kernel {machine.kernel}, "
        f"glibc {machine.glibc}"
    )


def peaks(machine: Machine) -> str:
    """Return the measured peaks of a machine, for people."""
    return ", ".join(
        f"{peak.dtype} on {plural(peak.threads, 'thread')} {number(peak.gflops)} GFLOP/s"
        for peak in machine.peak
    )


def load(busy: int) -> str:
    """Return what else the machine did: nothing, or a number of busy loops."""
    return plural(busy, "busy loop") if busy else "idle"


def _filters(view: View) -> dict[str, list[str]]:
    """Return the values to filter by; the names are those of data attributes."""
    rows = [row for table in view.machines for row in table.rows]
    busy = {column.busy for table in view.machines for column in table.columns}
    return {
        "framework": sorted({row.framework for row in rows}),
        "flavour": sorted({row.flavour for row in rows}),
        "load": [load(each) for each in sorted(busy)],
    }


def _answers(view: View, table: MachineTable) -> str:
    rows = []
    for answer in view.answers:
        cells = []
        for choice in map(answer.choice, table.frameworks):
            is_other = choice and choice.flavour != answer.take
            name = f"`{escaped(choice.flavour)}` " if choice and is_other else ""
            cells.append(name + _marked(choice.cell, choice.cell.times) if choice else "")
        rows.append([answer.column.question, f"`{answer.take}`", *cells])
    empty = [""] * (len(table.frameworks) - 1)
    for kind, (flavour, page) in columns.ELSEWHERE.items():
        rows.append([kind, f"`{flavour}`", f"[seconds]({page}.md)", *empty])
    return _table(["my program is mostly", "take", *map(escaped, table.frameworks)], rows)


def _marked(cell: Cell, text: str) -> str:
    """Return a cell's text, bold if the difference is clear."""
    bold = f"**{text}**" if cell.is_difference else text
    return bold + OTHER_GRAPH * cell.other_graph + OLDER_FIGURE * cell.is_older


def _short_table(table: MachineTable) -> str:
    """Return the baselines' figures, and how many times as fast the other environments are."""
    heads, rows = columns.in_table(table.columns), []
    for row in table.rows:
        cells = [row.cells[column] for column in heads]
        if not any(cell.figure for cell in cells):
            continue
        images = "".join(f" (image {escaped(digest)})" for digest in row.images)
        is_marked = not row.is_current and not table.is_of_older_locks
        texts = [
            _marked(cell, f"{cell.ratio.value:.2f}" if cell.ratio else _unbroken(cell.figure))
            for cell in cells
        ]
        size = f"{row.size / 1e6:.0f}" if row.size is not None else ""
        rows.append([escaped(row.name) + images + OLDER * is_marked, size, *texts])
    return _table(["environment", "download, MB", *(column.kind for column in heads)], rows)


def _across(across: Across) -> str:
    programs = list(dict.fromkeys(one.program for one in across.timed))
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for one in across.timed:
        times = f" {one.ratio.value:.2f} ({one.ratio.short})" if one.ratio else ""
        rows.setdefault((one.environment, one.by), {})[one.program] = _unbroken(one.figure) + times
    return _table(
        ["environment", "by", *map(escaped, programs)],
        [
            [*map(escaped, key), *(cells.get(program, "") for program in programs)]
            for key, cells in rows.items()
        ],
    )


def _unbroken(figure: str) -> str:
    """Return a figure that stays on one line with its unit."""
    return escaped(figure).replace(" ", "&nbsp;")


def _times_of_step(step: Step) -> str:
    interval = f" ({step.ratio.short})" if step.ratio else ""
    return f"{step.times:.2f}{interval}" + OTHER_GRAPH * step.other_graph


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (heads, *rows)]
    return "\n".join([lines[0], f"|{'|'.join('---' for _ in heads)}|", *lines[1:]])
