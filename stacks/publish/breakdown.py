"""What the seconds of a program are made of: a call by its profile, and compiling by its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stacks.bench.profile import Compilation, Profile
from stacks.publish.sessions import Figure, ResultSession

CALLS = 100
# Classes that have a part of their own; more could not be told apart in a plot.
LARGEST = 5
C, PYTHON = "other classes, C", "other classes, Py"
REST = "the rest"


@dataclass(frozen=True)
class BreakdownPart:
    """What a part of a bar stands for; `python` says that Python code does it, or some of it."""

    name: str
    python: bool = False


@dataclass(frozen=True)
class Share:
    """A variant's seconds of each part."""

    figure: Figure
    seconds: tuple[float, ...]

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self.seconds)


@dataclass(frozen=True)
class Breakdown:
    """One program on all threads, its variants side by side: every one has the same parts."""

    program: str
    threads: int
    parts: tuple[BreakdownPart, ...]
    shares: tuple[Share, ...]

    def python(self, share: Share) -> float:
        """Return which part of a share's seconds Python code takes."""
        pairs = zip(self.parts, share.seconds, strict=True)
        return sum(s for part, s in pairs if part.python) / share.total if share.total else 0.0


def calls(session: ResultSession) -> list[Breakdown]:
    """Return what a call of each profiled program is made of, in seconds a call."""
    return _breakdowns(session, lambda figure: figure.profile is not None, _calls)


def compiling(session: ResultSession) -> list[Breakdown]:
    """Return what compiling each program is made of, and its calls, in seconds.

    Where the steps of one variant are not known, none are told.
    """
    return _breakdowns(session, lambda figure: figure.compile is not None, _compiling)


def _breakdowns(
    session: ResultSession,
    wanted: Callable[[Figure], bool],
    make: Callable[[str, int, Sequence[Figure]], Breakdown],
) -> list[Breakdown]:
    found: dict[str, dict[int, list[Figure]]] = {}
    for figure in session.figures:
        measure = figure.row.measure
        if measure.unit == "s" and wanted(figure):
            found.setdefault(measure.name, {}).setdefault(measure.threads, []).append(figure)
    return [make(name, max(by), by[max(by)]) for name, by in found.items()]


def _calls(program: str, count: int, figures: Sequence[Figure]) -> Breakdown:
    found = [(figure, _costs(figure.profile)) for figure in figures if figure.profile]
    every = {key for _, costs in found for key in costs}
    largest = {key: max(costs.get(key, 0.0) for _, costs in found) for key in every}
    classes = sorted((key for key in largest if key[1]), key=lambda key: (-largest[key], key))
    named = sorted(classes[:LARGEST], key=lambda key: ("Py" in key[1], -largest[key], key))
    own = sorted(key for key in largest if not key[1])
    parts = [
        *(BreakdownPart(", ".join(key), "Py" in key[1]) for key in named),
        BreakdownPart(C),
        BreakdownPart(PYTHON, True),
    ]
    parts += [BreakdownPart(name) for name, _ in own]
    shares = []
    for figure, costs in found:
        others = {key: s for key, s in costs.items() if key[1] and key not in named}
        seconds = [costs.get(key, 0.0) for key in named]
        of_python = sum(s for key, s in others.items() if "Py" in key[1])
        seconds += [sum(others.values()) - of_python, of_python]
        shares.append(Share(figure, (*seconds, *(costs.get(key, 0.0) for key in own))))
    return _filled(Breakdown(program, count, tuple(parts), tuple(shares)))


def _costs(profile: Profile) -> dict[tuple[str, str], float]:
    """Return {(class, implementation): seconds of a call}; the latter is empty of what has none."""
    found = {(row.name, row.type): row.seconds / profile.calls for row in profile.rows}
    found[REST, ""] = profile.rest.seconds / profile.calls
    # What is left beside measured parts may come out below zero.
    return {key: max(seconds, 0.0) for key, seconds in found.items()}


def _compiling(program: str, count: int, figures: Sequence[Figure]) -> Breakdown:
    steps = [_steps(figure.compilation) for figure in figures if figure.compilation]
    if len(steps) < len(figures):
        steps = [{"compiling": figure.compile or 0.0} for figure in figures]
    shares = [
        Share(figure, (*step.values(), CALLS * figure.row.summary.median))
        for figure, step in zip(figures, steps, strict=True)
    ]
    parts = [BreakdownPart(name) for name in (*steps[0], f"{CALLS} calls")]
    return _filled(Breakdown(program, count, tuple(parts), tuple(shares)))


def _steps(found: Compilation) -> dict[str, float]:
    steps = {
        "optimiser": found.optimiser - found.validation,
        "optimiser: validation": found.validation,
        "linker, C compiler": found.linker - found.import_,
        "linker: import": found.import_,
        "other": found.total - found.optimiser - found.linker,
    }
    return {name: max(seconds, 0.0) for name, seconds in steps.items()}


def _filled(found: Breakdown) -> Breakdown:
    """Return it without the parts that none of its variants has."""
    kept = [n for n in range(len(found.parts)) if any(share.seconds[n] for share in found.shares)]
    return Breakdown(
        found.program,
        found.threads,
        tuple(found.parts[n] for n in kept),
        tuple(Share(s.figure, tuple(s.seconds[n] for n in kept)) for s in found.shares),
    )
