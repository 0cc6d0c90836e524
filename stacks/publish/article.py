"""The published example: a neural Turing machine made faster in three steps, beside ours.

The figures are those of an article of 2017: Theano 0.8.2 on a machine that it does not name, the
seconds of 100 calls of a training step, each step run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacks.publish.sessions import ResultSession, threads

# {flavour: (what the article did, seconds of 100 calls)}
ARTICLE = {
    "pip-default": ("BLAS through NumPy's OpenBLAS", 55.91766),
    "mkl": ("MKL", 49.39490),
    "mkl-amdlibm": ("MKL and AMD LibM", 48.98488),
}
MEASURE = "ntm step"
ABOUT = (
    "An article of 2017 made a neural Turing machine on Theano 0.8.2 faster in three steps; it "
    "ran each once, on a machine that it does not name. Its program is not at hand: `ntm` is one "
    "of its shape, with other weights and data. So the parts can be compared, the seconds cannot."
)


@dataclass(frozen=True)
class Step:
    """A step's seconds for 100 calls, and what part that is of the first step's.

    `low` and `high` hold the part in 95 of 100 cases; the article has no such thing. `unlike` says
    that it compiled to another graph than the first.
    """

    flavour: str
    seconds: float
    part: float
    low: float
    high: float
    unlike: bool = False

    @property
    def interval(self) -> str:
        """The interval, where there is one, and whether graphs differ."""
        told = [f"{self.low:.3f} - {self.high:.3f}"] if self.low < self.high else []
        return ", ".join([*told, *(["another graph"] if self.unlike else [])])


@dataclass(frozen=True)
class Steps:
    """The three steps in one place: of the article, or of a session, threads and framework."""

    place: str
    framework: str
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """Where these are from."""
        return f"{self.place}, {self.framework}"


def article() -> Steps:
    """Return the article's own."""
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
    """Return ours: of every session that has the workload on the baseline and another of them."""
    found: dict[tuple[str, str], list[Step]] = {}
    for session in sessions:
        for figure in session.figures:
            row = figure.row
            if row.measure.name != MEASURE or figure.flavour not in ARTICLE:
                continue
            on = threads(row.measure.threads)
            place = f"{session.machine.name}, {session.result.began}, {on}"
            seconds = 100 * row.summary.median
            if row.ratio and row.reference == f"{figure.framework}/pip-default":
                ratio = row.ratio
                # What is twice as fast takes half the time.
                parts = (1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
                step = Step(figure.flavour, seconds, *parts, unlike=figure.unlike)
            elif figure.flavour == "pip-default":
                step = Step(figure.flavour, seconds, 1.0, 1.0, 1.0)
            else:
                continue
            found.setdefault((place, figure.framework), []).append(step)
    return [
        Steps(place, framework, tuple(steps))
        for (place, framework), steps in found.items()
        if len(steps) > 1 and any(step.flavour == "pip-default" for step in steps)
    ]
