"""The results as one self-contained web page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from stacks.timings import article, plots, summary
from stacks.timings.columns import load
from stacks.timings.current import CurrentLock
from stacks.timings.overview import overviews
from stacks.timings.sessions import ResultSession, versions

HERE = Path(__file__).resolve().parent


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
    numbered = list(enumerate(sessions, 1))
    summaries = summary.summaries(sessions, current)
    text = environment.get_template("page.html.jinja").render(
        headline=summary.headline(summaries),
        summaries=summaries,
        lines=[(number, session, one) for number, session in numbered for one in session.figures],
        absent=[
            (number, session, one) for number, session in numbered for one in session.result.missing
        ],
        filters=_filters(sessions),
        drawn=[(number, session, plots.plots(session)) for number, session in numbered],
        steps=[article.article(), *steps] if steps else [],
        step_plots=plots.of_steps(steps),
        about_steps=article.ABOUT.replace("`", ""),
        counted=summary.counted,
        load=load,
        overviews=overviews,
        versions=versions,
        zip=zip,
    )
    return text.lstrip()


def _filters(sessions: Sequence[ResultSession]) -> dict[str, list[str]]:
    """Return the values to filter by; the names are those of columns and data attributes."""
    figures = [figure for session in sessions for figure in session.figures]
    subjects = [subject for session in sessions for subject in session.result.subjects]
    busy = {session.result.settings.busy for session in sessions}
    values = {
        "machine": {session.machine.name for session in sessions},
        "framework": {subject.framework for subject in subjects},
        "flavour": {subject.flavour for subject in subjects},
        "workload": {figure.workload for figure in figures},
    }
    return {name: sorted(of) for name, of in values.items()} | {"load": [*map(load, sorted(busy))]}
