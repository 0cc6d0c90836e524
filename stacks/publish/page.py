"""The results as one self-contained web page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from stacks.bench.rows import beside
from stacks.publish import article, plots, summary, tables
from stacks.publish.current import CurrentLock
from stacks.publish.sessions import NO_ANSWER, ResultSession, versions

HERE = Path(__file__).resolve().parent
# The heads of the columns with a filter.
FILTERS = ("machine", "framework", "variant", "measure")


def document(sessions: Sequence[ResultSession], current: Mapping[str, CurrentLock]) -> str:
    """Return the whole page; all texts of the results are escaped.

    current: the locks of this checkout.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    steps = article.ours(sessions)
    every = [article.article(), *steps]
    numbered = list(enumerate(sessions, 1))
    lines = [
        (number, session, one, _keys(session, one.row.subject, one.row.measure.label))
        for number, session in numbered
        for one in session.figures
    ]
    absent = [
        (
            number,
            session,
            one,
            _keys(session, one.subject, one.name + beside(session.result.settings.busy)),
        )
        for number, session in numbered
        for one in session.result.missing
    ]
    summaries = summary.summaries(sessions, current)
    return environment.get_template("page.html.jinja").render(
        headline=summary.headline(summaries),
        summaries=summaries,
        lines=lines,
        absent=absent,
        no_answer=NO_ANSWER,
        filters={name: sorted({k[name] for *_, k in [*lines, *absent]}) for name in FILTERS},
        drawn=[(s, tables.tables(s), plots.plots(s)) for s in sessions],
        steps=every if steps else [],
        step_plots=plots.of_steps(steps),
        about_steps=article.ABOUT.replace("`", ""),
        versions=versions,
        # Only for the project's own files, and for plots, whose texts are escaped already.
        inline=Markup,
        css=(HERE / "page.css").read_text(),
        js=(HERE / "page.js").read_text(),
    )


def _keys(session: ResultSession, subject: str, measure: str) -> dict[str, str]:
    framework, _, flavour = subject.partition("/")
    machine = session.machine.name
    return {"machine": machine, "framework": framework, "variant": flavour, "measure": measure}
