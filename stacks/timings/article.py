"""The example of an article: a neural Turing machine made faster in three steps, and our figures.

The article, of 2017, gives the seconds of 100 calls of a training step on Theano 0.8.2. It ran each
step once, on a machine that it does not name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacks.core.console import plural
from stacks.timings.sessions import ResultSession

# {flavour: (what the article did, seconds of 100 calls)}
ARTICLE = {
    "pip-default": ("BLAS through NumPy's OpenBLAS", 55.91766),
    "mkl": ("MKL", 49.39490),
    "mkl-amdlibm": ("MKL and AMD LibM", 48.98488),
}
MEASURE = "ntm step"
ABOUT = (
    "An article of 2017 made a neural Turing machine on Theano 0.8.2 faster in three steps; it "
    "ran each once, on a machine that it does not name. Its program is not available: `ntm` has "
    "the same shape, with other weights and data. So compare the parts, not the seconds."
)


@dataclass(frozen=True)
class Step:
    """A step: seconds of 100 calls, as a part of the first step's, with the 94% interval.

    The article has no intervals. other_graph: it compiled to another graph than the first step.
    """

    flavour: str
    seconds: float
    part: float
    low: float
    high: float
    other_graph: bool = False

    @property
    def interval(self) -> str:
        """The interval if there is one, and whether graphs differ."""
        interval = [f"{self.low:.3f} - {self.high:.3f}"] if self.low < self.high else []
        return ", ".join([*interval, *(["another graph"] if self.other_graph else [])])


@dataclass(frozen=True)
class Steps:
    """The three steps of one source: the article, or a session on a number of threads."""

    source: str
    framework: str
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """The source and the framework."""
        return f"{self.source}, {self.framework}"


def article() -> Steps:
    """Return the article's figures."""
    first = ARTICLE["pip-default"][1]
    return Steps(
        "the article, one run of each",
        "Theano 0.8.2",
        tuple(
            Step(flavour, seconds, seconds / first, seconds / first, seconds / first)
            for flavour, (_, seconds) in ARTICLE.items()
        ),
    )


def ours(sessions: Sequence[ResultSession]) -> list[Steps]:
    """Return our figures, of every session that timed the first step and another one."""
    by_source: dict[tuple[str, str], list[Step]] = {}
    for session in sessions:
        for figure in session.figures:
            row = figure.row
            if row.measure.label != MEASURE or figure.flavour not in ARTICLE:
                continue
            threads = plural(row.measure.threads, "thread")
            source = f"{session.machine.name}, {session.result.began}, {threads}"
            seconds = 100 * row.summary.median
            if row.ratio and row.reference == f"{figure.framework}/pip-default":
                ratio = row.ratio
                # Twice as fast is half the time.
                parts = (1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
                step = Step(figure.flavour, seconds, *parts, other_graph=figure.other_graph)
            elif figure.flavour == "pip-default":
                step = Step(figure.flavour, seconds, 1.0, 1.0, 1.0)
            else:
                continue
            by_source.setdefault((source, figure.framework), []).append(step)
    return [
        Steps(source, framework, tuple(steps))
        for (source, framework), steps in by_source.items()
        if len(steps) > 1 and any(step.flavour == "pip-default" for step in steps)
    ]
