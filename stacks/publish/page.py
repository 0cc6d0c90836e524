"""The timings as one page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from stacks.publish import plots, seed, tables
from stacks.publish.sessions import Figure, Session, versions

HERE = Path(__file__).resolve().parent
# The columns that are filtered by, by their heads.
FILTERS = ("machine", "framework", "variant", "measure")


def document(sessions: Sequence[Session]) -> str:
    """Return the whole page; every text of the results is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    steps = seed.ours(sessions)
    every = [seed.article(), *steps]
    lines = [(n, s, f, _keys(s, f)) for n, s in enumerate(sessions, 1) for f in s.figures]
    return environment.get_template("page.html.jinja").render(
        lines=lines,
        filters={name: sorted({keys[name] for *_, keys in lines}) for name in FILTERS},
        drawn=[(s, tables.tables(s), plots.plots(s)) for s in sessions],
        steps=every if steps else [],
        step_plots=plots.of_steps(steps),
        about_steps=seed.ABOUT.replace("`", ""),
        versions=versions,
        # Only for the project's own files, and for plots, in which all is escaped already.
        inline=Markup,
        css=(HERE / "page.css").read_text(),
        js=(HERE / "page.js").read_text(),
    )


def _keys(session: Session, figure: Figure) -> dict[str, str]:
    return {
        "machine": session.machine.name,
        "framework": figure.framework,
        "variant": figure.flavour,
        "measure": figure.row.measure.name,
    }
