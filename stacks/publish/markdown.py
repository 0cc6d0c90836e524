"""The results as Markdown, for readers of the repository."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from stacks.publish import article, tables
from stacks.publish.sessions import NO_ANSWER, ResultSession, versions

HEAD = """# Timings

Made by `./invoke publish` from [results/](../results); do not edit. [bench.md](bench.md) explains \
the columns; [site/index.html](../site/index.html) shows the same figures with plots, and can be \
sorted and filtered. Ratios compare figures of one session only. Devices are timed by their \
verification ([gpu.md](gpu.md)) and are not in these tables; CUDA has not been run on a GPU.
"""
MARKS = re.compile(r"([\\`*_\[\]|~#])")


def text(value: str) -> str:
    """Return a text of a result on one line, with Markdown and HTML escaped."""
    return MARKS.sub(r"\\\1", html.escape(" ".join(value.split()), quote=False))


def document(sessions: Sequence[ResultSession]) -> str:
    """Return the whole document."""
    parts = [HEAD, *map(_session, sessions)]
    steps = article.ours(sessions)
    if steps:
        parts.append(_steps([article.article(), *steps]))
    return "\n".join(parts)


def _session(session: ResultSession) -> str:
    lines = [
        f"## {text(session.machine.name)}, {session.result.began}",
        "",
        f"- {text(session.hardware)}",
        *([f"- Measured peak: {text(session.peaks)}"] if session.peaks else []),
        f"- {session.method}",
        f"- Commit {session.commit}",
        *(f"- {text(s.id)}: {text(versions(s))}; lock {s.lock}" for s in session.result.subjects),
        "",
        *_table(
            "framework | variant | measure | threads | median | quartiles | samples "
            "| times as fast | as",
            [
                [
                    text(figure.framework),
                    text(figure.flavour),
                    text(figure.row.measure.name),
                    str(figure.row.measure.threads),
                    figure.median,
                    figure.quartiles,
                    figure.sample_counts,
                    figure.ratio,
                    text(figure.reference) if figure.ratio else "",
                ]
                for figure in session.figures
            ]
            + [
                [*map(text, one.subject.split("/")), text(one.name), str(one.threads), NO_ANSWER]
                + [""] * 4
                for one in session.result.missing
            ],
        ),
        "",
        *(f"- {text(note)}" for note in session.notes),
    ]
    for table in tables.tables(session):
        about = table.about[0].upper() + table.about[1:]
        lines += ["", f"### {table.title}", "", f"{about}.", ""]
        lines += _table(" | ".join(table.heads), [list(map(text, row)) for row in table.rows])
    return "\n".join(lines) + "\n"


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
