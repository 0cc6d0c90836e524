"""The table of a person's own program in several environments, and the fastest of them."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence

from stacks.bench.intervals import Ratio, speedup, summary
from stacks.bench.program_run import ProgramRun
from stacks.core.console import print_table


def show(first: dict[str, ProgramRun], timed: dict[str, list[ProgramRun]]) -> list[str]:
    """Print two lines for each variant, then the fastest if the rounds show one; return `best`.

    One table with all would be wider than 80 columns; so would names with a framework, which is
    left out where it is the same.
    """
    frameworks = {name.rpartition("/")[0] for name in timed}
    reference = next(iter(timed))
    has_steps = all(run.step for found in timed.values() for run in found)
    times, costs = [], []
    for name, found in timed.items():
        shown = _named(name, frameworks)
        walls = summary([run.wall for run in found])
        ratio = _ratio(found, timed[reference], has_steps)
        steps = [run.step for run in found if run.step]
        times.append(
            (
                shown,
                f"{first[name].wall:.2f}",
                f"{walls.median:.2f} ({walls.low:.2f}-{walls.high:.2f})",
                f"{1e3 * statistics.median(steps):.3f}" if has_steps else "-",
                "1" if name == reference else _ratio_text(ratio),
            )
        )
        costs.append(
            (
                shown,
                f"{statistics.median(run.cpu for run in found):.2f}",
                f"{statistics.median(run.compile for run in found):.2f}",
                f"{max(run.memory for run in found):.0f}",
            )
        )
    print_table(("variant",), ("first, s", "run, s", "step, ms", "times as fast"), times)
    if len(timed) > 1:
        print(f"times as fast: as {_named(reference, frameworks)} in the same round, the median")
    print()
    print_table(("variant",), ("CPU, s", "compile, s", "peak, MB"), costs)
    print(f"\n{verdict(timed, has_steps)}")
    return best(timed, has_steps)


def _named(name: str, frameworks: Collection[str]) -> str:
    return name if len(frameworks) > 1 else name.rpartition("/")[2]


def best(timed: dict[str, list[ProgramRun]], has_steps: bool) -> list[str]:
    """Return the variant of the lowest median, then all that the rounds do not show as slower."""
    lowest = min(timed, key=lambda name: statistics.median(_values(timed[name], has_steps)))
    others = [name for name in timed if name != lowest]
    ratios = {name: _ratio(timed[lowest], timed[name], has_steps) for name in others}
    return [lowest, *(name for name, ratio in ratios.items() if not ratio.significant)]


def verdict(timed: dict[str, list[ProgramRun]], has_steps: bool) -> str:
    """Return a sentence with the fastest variant, if the rounds show one."""
    measure = "step" if has_steps else "whole program"
    if len(timed) < 2:
        return "one variant: nothing to compare it with"
    lowest, *others = best(timed, has_steps)
    if not others:
        return f"{measure}: {lowest} is the fastest"
    return f"{measure}: the rounds show no fastest variant; {lowest} has the lowest median"


def _values(found: Sequence[ProgramRun], has_steps: bool) -> list[float]:
    return [(run.step or 0.0) if has_steps else run.wall for run in found]


def _ratio(ours: Sequence[ProgramRun], theirs: Sequence[ProgramRun], has_steps: bool) -> Ratio:
    return speedup(_values(ours, has_steps), _values(theirs, has_steps), "s")


def _ratio_text(ratio: Ratio) -> str:
    return f"{ratio.value:.2f} ({ratio.interval.replace(' - ', '-')})"
