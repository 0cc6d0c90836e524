"""The view as one self-contained web page."""

from __future__ import annotations

from pathlib import Path

import jinja2

from stacks.core.console import plural
from stacks.timings import article, columns, devices, picture
from stacks.timings.figures import versions
from stacks.timings.machine import interval
from stacks.timings.view import View

HERE = Path(__file__).resolve().parent


def document(view: View) -> str:
    """Return the whole page; all texts of the results are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template("page.html.jinja").render(
        view=view,
        picture=picture.drawing(view),
        filters=_filters(view),
        theirs=article.article(),
        not_measured=columns.NOT_MEASURED,
        in_table=columns.in_table,
        interval=interval,
        load=load,
        moves=devices.moves,
        counted=devices.counted,
        products=devices.products,
        plural=plural,
        versions=versions,
    )
    return text.lstrip()


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
