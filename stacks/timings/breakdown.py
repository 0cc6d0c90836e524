"""The parts of a program's seconds: of a call by its profile, of the compilation by its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stacks.bench.profile import Compilation, Profile
from stacks.timings.sessions import Figure, ResultSession

CALLS = 100
# The number of classes with a part of their own; more cannot be distinguished in a plot.
LARGEST = 5
C, PYTHON = "other classes, C", "other classes, Py"
REST = "the rest"


@dataclass(frozen=True)
class BreakdownPart:
    """A part of a bar; `python`: Python code does it, or some of it."""

    name: str
    python: bool = False


@dataclass(frozen=True)
class Share:
    """A variant's seconds of each part."""

    figure: Figure
    seconds: tuple[float, ...]

    @property
    def total(self) -> float:
        """The sum."""
        return sum(self.seconds)


@dataclass(frozen=True)
class Breakdown:
    """One program on the largest number of threads; all its variants have the same parts."""

    program: str
    threads: int
    parts: tuple[BreakdownPart, ...]
    shares: tuple[Share, ...]

    def python(self, share: Share) -> float:
        """Return the fraction of a share's seconds that Python code takes."""
        pairs = zip(self.parts, share.seconds, strict=True)
        return sum(s for part, s in pairs if part.python) / share.total if share.total else 0.0


def calls(session: ResultSession) -> list[Breakdown]:
    """Return the parts of a call of each profiled program, in seconds."""
    return _breakdowns(session, lambda figure: figure.profile is not None, _calls)


def compiling(session: ResultSession) -> list[Breakdown]:
    """Return the steps of each program's compilation, and its calls, in seconds.

    If the steps of one variant are unknown, a program has only one step.
    """
    return _breakdowns(session, lambda figure: figure.compile is not None, _compiling)


def _breakdowns(
    session: ResultSession,
    is_included: Callable[[Figure], bool],
    make: Callable[[str, int, Sequence[Figure]], Breakdown],
) -> list[Breakdown]:
    programs: dict[str, dict[int, list[Figure]]] = {}
    for figure in session.figures:
        measure = figure.row.measure
        if measure.unit == "s" and is_included(figure):
            programs.setdefault(measure.label, {}).setdefault(measure.threads, []).append(figure)
    return [make(name, max(by), by[max(by)]) for name, by in programs.items()]


def _calls(program: str, count: int, figures: Sequence[Figure]) -> Breakdown:
    pairs = [(figure, _costs(figure.profile)) for figure in figures if figure.profile]
    every = {key for _, costs in pairs for key in costs}
    largest = {key: max(costs.get(key, 0.0) for _, costs in pairs) for key in every}
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
    for figure, costs in pairs:
        others = {key: s for key, s in costs.items() if key[1] and key not in named}
        seconds = [costs.get(key, 0.0) for key in named]
        of_python = sum(s for key, s in others.items() if "Py" in key[1])
        seconds += [sum(others.values()) - of_python, of_python]
        shares.append(Share(figure, (*seconds, *(costs.get(key, 0.0) for key in own))))
    return _filled(Breakdown(program, count, tuple(parts), tuple(shares)))


def _costs(profile: Profile) -> dict[tuple[str, str], float]:
    """Return {(class, implementation): seconds of a call}; overheads have no implementation."""
    costs = {(row.name, row.type): row.seconds / profile.calls for row in profile.rows}
    costs[REST, ""] = profile.rest.seconds / profile.calls
    # Overheads are differences, and may be negative by noise.
    return {key: max(seconds, 0.0) for key, seconds in costs.items()}


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


def _steps(compilation: Compilation) -> dict[str, float]:
    steps = {
        "optimiser": compilation.optimiser - compilation.validation,
        "optimiser: validation": compilation.validation,
        "linker, C compiler": compilation.linker - compilation.import_,
        "linker: import": compilation.import_,
        "other": compilation.total - compilation.optimiser - compilation.linker,
    }
    return {name: max(seconds, 0.0) for name, seconds in steps.items()}


def _filled(whole: Breakdown) -> Breakdown:
    """Return a breakdown without the parts that are 0 in all its variants."""
    filled = [n for n in range(len(whole.parts)) if any(s.seconds[n] for s in whole.shares)]
    return Breakdown(
        whole.program,
        whole.threads,
        tuple(whole.parts[n] for n in filled),
        tuple(Share(s.figure, tuple(s.seconds[n] for n in filled)) for s in whole.shares),
    )
