"""The view as Markdown, as a picture of the answers, and as one self-contained web page.

The templates beside this module have the prose, the tables and the drawing.
"""

import html
import math
import re
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

import jinja2

from stacks.bench.intervals import figure, number
from stacks.bench.result import Machine
from stacks.bench.rows import Row
from stacks.core.console import plural
from stacks.timings import sessions
from stacks.timings.view import View, gain

HERE = Path(__file__).resolve().parent
MARKS = re.compile(r"([\\`*_\[\]|~#])")
# Of the picture, in points.
WIDTH, ROW, TOP, LEFT, RIGHT = 680, 18, 44, 140, 220
TICKS = (0.25, 0.5, 1, 2, 5, 10, 20, 50)
# The scale reaches at least this far to either side of 1.
LEAST = 1.25


def markdown(view: View) -> str:
    """Return the answers and the short table as Markdown; all texts of the results are escaped."""
    return _rendered("page.md.jinja", view)


def page(view: View) -> str:
    """Return the whole web page; all texts of the results are escaped."""
    picture = _picture(view).rstrip()
    return _rendered("page.html.jinja", view, picture=picture, filters=_filters(view)).lstrip()


def document(view: View) -> str:
    """Return the picture as a file with its own styles, light and dark; "" without answers."""
    light, dark, own = (
        (HERE / f"{name}.css").read_text(encoding="utf-8") for name in ("light", "dark", "picture")
    )
    # An image is shown on any background, and takes no styles of the page that shows it.
    styles = f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n{own}"
    return _picture(view, escape(styles))


def _rendered(name: str, view: View, **more: object) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=name.endswith((".html.jinja", ".svg.jinja")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["text"] = escaped
    environment.filters |= {"tenths": "{:.1f}".format, "hundredths": "{:.2f}".format}
    return environment.get_template(name).render(
        view=view,
        hardware=hardware,
        peaks=peaks,
        plural=plural,
        load=load,
        figure=lambda row: figure(row.summary.median, row.measure.unit),
        gain=gain,
        in_table=sessions.in_table,
        across=_across(view),
        **more,
    )


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


def _across(view: View) -> Mapping[tuple[str, str], Mapping[str, Row]]:
    """Return {(environment, what ran it): {program: its step}} of the frameworks compared."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in view.across.figures if view.across else ():
        program, _, by = row.measure.name.partition(", ")
        found.setdefault((row.subject, by or "C"), {})[program] = row
    return found


def _filters(view: View) -> dict[str, list[str]]:
    """Return the values to filter by; the names are those of data attributes."""
    rows = [row for table in view.machines for row in table.rows]
    busy = {column.busy for table in view.machines for column in table.columns}
    return {
        "framework": sorted({row.framework for row in rows}),
        "flavour": sorted({row.flavour for row in rows}),
        "load": [load(each) for each in sorted(busy)],
    }


def _picture(view: View, styles: str = "") -> str:
    """Return the picture as an SVG element, with styles if it is a file; "" without answers."""
    answers = [a for a in view.answers if not a.column.busy and a.column.kind in sessions.TABLE]
    ratios = [r for a in answers for row in a.rows.values() if (r := row.cells[a.column].ratio)]
    if not ratios:
        return ""
    low = min(1 / LEAST, *(ratio.low for ratio in ratios))
    high = max(LEAST, *(ratio.high for ratio in ratios))

    def x(value: float) -> float:
        part = math.log(value / low) / math.log(high / low)
        return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)

    return _rendered(
        "picture.svg.jinja",
        view,
        answers=answers,
        styles=styles,
        x=x,
        ticks=[tick for tick in TICKS if low <= tick <= high],
        width=WIDTH,
        right=WIDTH - RIGHT + 10,
        top=TOP,
        row_height=ROW,
        height=TOP + ROW * (len(answers) + len(ratios)) + 8,
    )
