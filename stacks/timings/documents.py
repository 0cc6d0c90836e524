"""The view as Markdown, as a picture of the answers, and as one self-contained web page.

The templates beside this module have the prose; the tables of the Markdown are made here.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import jinja2

from stacks.bench.intervals import Ratio
from stacks.bench.result import Machine
from stacks.bench.table import number
from stacks.core.console import plural
from stacks.timings import sessions
from stacks.timings.view import Across, Answer, Cell, Choice, MachineTable, Step, View

HERE = Path(__file__).resolve().parent
MARKS = re.compile(r"([\\`*_\[\]|~#])")
# Marks an environment whose lock has changed since, a figure of an older lock than others of its
# row, and a ratio to another graph.
OLDER, OLDER_FIGURE, OTHER_GRAPH = "&Dagger;", "&dagger;", "\\*"


def markdown(view: View) -> str:
    """Return the answers and the short table as Markdown; all texts of the results are escaped."""
    tables: dict[str, object] = {}
    for table in view.machines[:1]:
        heads = sessions.in_table(table.columns)
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
    drawn, filters = drawing(view), _filters(view)
    text = _rendered(
        "page.html.jinja",
        view,
        picture=drawn,
        filters=filters,
        load=load,
        in_table=sessions.in_table,
        elsewhere=sessions.ELSEWHERE,
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
    for kind, (flavour, page) in sessions.ELSEWHERE.items():
        rows.append([kind, f"`{flavour}`", f"[seconds]({page}.md)", *empty])
    return _table(["my program is mostly", "take", *map(escaped, table.frameworks)], rows)


def _marked(cell: Cell, text: str) -> str:
    """Return a cell's text, bold if the difference is clear."""
    bold = f"**{text}**" if cell.is_difference else text
    return bold + OTHER_GRAPH * cell.other_graph + OLDER_FIGURE * cell.is_older


def _short_table(table: MachineTable) -> str:
    """Return the baselines' figures, and how many times as fast the other environments are."""
    heads, rows = sessions.in_table(table.columns), []
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


# Points.
WIDTH, ROW, TOP, LEFT, RIGHT = 680, 18, 44, 140, 220
TICKS = (0.25, 0.5, 1, 2, 5, 10, 20, 50)
# The scale reaches at least this far to either side of 1.
LEAST = 1.25


def drawing(view: View) -> str:
    """Return the picture as an SVG element without styles; "" without answers."""
    kinds = [a for a in view.answers if not a.column.busy and a.column.kind in sessions.TABLE]
    choices = [one for answer in kinds for one in answer.choices if one.cell.ratio]
    if not choices:
        return ""
    ratios = [one.cell.ratio for one in choices if one.cell.ratio]
    low = min(1 / LEAST, *(ratio.low for ratio in ratios))
    high = max(LEAST, *(ratio.high for ratio in ratios))

    def x(value: float) -> float:
        part = math.log(value / low) / math.log(high / low)
        return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)

    height = TOP + ROW * (len(kinds) + len(choices)) + 8
    cpu = view.machines[0].machine.cpu
    title = f"How many times as fast as pip-default, on {cpu} (open: not clear)"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="answers" role="img" width="{WIDTH}" '
        f'height="{height}" viewBox="0 0 {WIDTH} {height}">',
        f"<title>{escape(title)}: {escape('; '.join(map(_words, kinds)))}</title>",
        _text(8, 16, title, "head"),
    ]
    for tick in TICKS:
        if low <= tick <= high:
            kind = "one" if tick == 1 else "tick"
            line = f'<path class="{kind}" d="M{x(tick)} {TOP - 8}V{height - 8}"/>'
            parts += [line, _text(x(tick), TOP - 12, f"{tick:g}", "scale")]
    y = TOP
    for answer in kinds:
        y += ROW
        parts.append(_text(8, y - 5, answer.column.kind, "kind"))
        for choice in answer.choices:
            if ratio := choice.cell.ratio:
                y += ROW
                parts += _row(choice, ratio, y - 9, x(ratio.low), x(ratio.value), x(ratio.high))
    return "\n".join([*parts, "</svg>"])


def document(view: View) -> str:
    """Return the picture as a file with its own styles, light and dark; "" without answers."""
    drawn = drawing(view)
    if not drawn:
        return ""
    light, dark, own = (
        (HERE / f"{name}.css").read_text(encoding="utf-8") for name in ("light", "dark", "picture")
    )
    # An image is shown on any background, and takes no styles of the page that shows it.
    styles = f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n{own}"
    first, _, rest = drawn.partition("\n")
    return f"{first}\n<style>{escape(styles)}</style>\n{rest}\n"


def _words(answer: Answer) -> str:
    """Return a part of the picture in words."""
    times = [f"{one.framework} {one.cell.times} with {one.flavour}" for one in answer.choices]
    return f"{answer.column.kind}: {', '.join(times)}"


def _row(
    choice: Choice, ratio: Ratio, y: float, low: float, value: float, high: float
) -> Sequence[str]:
    kind = "clear" if choice.cell.is_difference else "unclear"
    return [
        _text(16, y + 4, choice.framework, "name"),
        f'<path class="interval" d="M{low} {y}H{high}M{low} {y - 4}V{y + 4}M{high} {y - 4}'
        f'V{y + 4}"/>',
        f'<circle class="{kind}" cx="{value}" cy="{y}" r="4.5"/>',
        _text(WIDTH - RIGHT + 10, y + 4, f"{ratio.value:.2f}  {choice.flavour}", "name"),
    ]


def _text(x: float, y: float, content: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(content)}</text>'
