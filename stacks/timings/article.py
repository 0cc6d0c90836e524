"""The example of an article: a neural Turing machine made faster in three steps, and our figures.

The article, of 2017, gives the seconds of 100 calls of a training step on Theano 0.8.2. It ran each
step once, on a machine that it does not name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacks.bench.intervals import Ratio
from stacks.timings.figures import Session

# Seconds of 100 calls: with NumPy's OpenBLAS, with MKL, with MKL and AMD LibM.
SECONDS = {"pip-default": 55.91766, "mkl": 49.39490, "mkl-amdlibm": 48.98488}
CALLS = 100
MEASURE = "ntm step"


@dataclass(frozen=True)
class Step:
    """A step: the seconds of 100 calls, and how many times as fast as the first it is.

    ratio: None for the first, and of the article, which has one run of each.
    """

    flavour: str
    seconds: float
    times: float
    ratio: Ratio | None = None
    other_graph: bool = False


@dataclass(frozen=True)
class Steps:
    """The steps of one source: the article, or a session."""

    framework: str
    steps: tuple[Step, ...]
    session: Session | None = None


def article() -> Steps:
    """Return the article's figures."""
    first = SECONDS["pip-default"]
    steps = tuple(Step(flavour, each, first / each) for flavour, each in SECONDS.items())
    return Steps("theano-0.8.2", steps)


def ours(sessions: Sequence[Session]) -> list[Steps]:
    """Return our figures, of every idle session that timed the first step and another one."""
    return [steps for session in sessions for steps in _of_session(session)]


def _of_session(session: Session) -> list[Steps]:
    found: dict[str, dict[str, Step]] = {}
    for figure in session.figures:
        row = figure.row
        framework, _, flavour = row.subject.partition("/")
        if row.measure.label != MEASURE or flavour not in SECONDS:
            continue
        seconds = CALLS * row.summary.median
        if flavour == "pip-default":
            found.setdefault(framework, {})[flavour] = Step(flavour, seconds, 1.0)
        elif row.ratio and row.reference == f"{framework}/pip-default":
            step = Step(flavour, seconds, row.ratio.value, row.ratio, figure.other_graph)
            found.setdefault(framework, {})[flavour] = step
    return [
        Steps(framework, tuple(steps[name] for name in SECONDS if name in steps), session)
        for framework, steps in found.items()
        if len(steps) > 1 and "pip-default" in steps
    ]
