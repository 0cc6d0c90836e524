"""A user's program on several variants, in turn: the rounds, their table, the fastest variant.

Another variant is the first in each round, as in the bench of workloads.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from stacks.bench import noise
from stacks.bench.candidates import Candidate
from stacks.bench.intervals import speedup, summary
from stacks.bench.result import Noise
from stacks.bench.schedule import rotated
from stacks.bench.user_program import ProgramRun, run_once
from stacks.core import cores
from stacks.core.console import display_path, print_table
from stacks.core.disk import write_atomically
from stacks.core.errors import UsageError
from stacks.core.progress import Progress, duration
from stacks.variants.variant import Variant
from verify.workloads.rounds import QUICK_ROUNDS

SCHEMA = 1
STEP, WHOLE = "step", "whole program"

Runs = Mapping[str, Sequence[ProgramRun]]
RunOnce = Callable[[Candidate, Sequence[str]], ProgramRun]


def bench(
    candidates: Sequence[Candidate],
    command: Sequence[str],
    *,
    rounds: int = 0,
    json_file: Path | None = None,
    run: RunOnce = run_once,
) -> list[str]:
    """Time a program on variants in rounds, after a first run of each; print a table.

    The first run compiles what the environment has not compiled before. rounds: 0 for the default.
    json_file: also write every run there. Returns the variant of the lowest median and those that
    the rounds do not show to be slower. Raises ProgramError with the program's status if it fails,
    CommandError if it cannot be started; then no figure is kept.
    """
    rounds = rounds or QUICK_ROUNDS
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}", expected="at least 1")
    runs: dict[str, list[ProgramRun]] = {name_of(c.variant, candidates): [] for c in candidates}
    noises: list[Noise] = []
    with Progress((rounds + 1) * len(candidates), parts=False) as progress:
        for number in range(rounds + 1):
            of = f"round {number} of {rounds}" if number else "first run"
            for candidate in rotated(candidates, number):
                name = name_of(candidate.variant, candidates)
                progress.update(f"{of}: {name}", len(noises), _seconds_left(runs, rounds))
                before = noise.read()
                one = run(candidate, command)
                noises.append(noise.between(before, noise.read(), cores.affine()))
                runs[name].append(one)
                left = _seconds_left(runs, rounds)
                words = f", about {duration(left)} left" if left else ""
                progress.print(f"  {of}: {name}: {one.wall:.2f} s{words}")
    first = {name: found[0] for name, found in runs.items()}
    timed = {name: found[1:] for name, found in runs.items()}
    best = show(first, timed)
    for remark in noise.remarks(noises[len(candidates) :]):
        print(f"note: {remark}")
    if json_file:
        content = {
            "schema": SCHEMA,
            "command": list(command),
            "first": {name: asdict(run) for name, run in first.items()},
            "rounds": {name: [asdict(run) for run in found] for name, found in timed.items()},
        }
        write_atomically(json_file, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return best


def _seconds_left(runs: Runs, rounds: int) -> float:
    """Return how long the runs to come will take, by the last ones; 0 if not all have run."""
    if not all(runs.values()):
        return 0.0
    return sum((rounds + 1 - len(found)) * found[-1].wall for found in runs.values())


def name_of(variant: Variant, candidates: Sequence[Candidate]) -> str:
    """Return the name of a variant among others: of two stacks with one id, the file."""
    is_unique = sum(each.variant.id == variant.id for each in candidates) == 1
    return variant.id if is_unique or not variant.file else display_path(variant.file)


def show(first: Mapping[str, ProgramRun], timed: Runs) -> list[str]:
    """Print two lines for each variant, then the fastest if the rounds show one; return `best`.

    One table with all would be wider than 80 columns; so would names with a framework, which is
    left out where it is the same.
    """
    has_one_framework = len({name.rpartition("/")[0] for name in timed}) == 1
    shown = {name: name.rpartition("/")[2] if has_one_framework else name for name in timed}
    what, values = _measured(timed)
    reference = next(iter(timed))
    times, costs = [], []
    for name, found in timed.items():
        walls = summary([run.wall for run in found])
        ratio = speedup(values[name], values[reference], "s")
        times.append(
            (
                shown[name],
                f"{first[name].wall:.2f}",
                f"{walls.median:.2f} ({walls.low:.2f}-{walls.high:.2f})",
                f"{1e3 * statistics.median(values[name]):.3f}" if what == STEP else "-",
                "1" if name == reference else f"{ratio.value:.2f} ({ratio.short})",
            )
        )
        costs.append(
            (
                shown[name],
                f"{statistics.median(run.cpu for run in found):.2f}",
                f"{statistics.median(run.compile for run in found):.2f}",
                f"{max(run.memory for run in found):.0f}",
            )
        )
    print_table(("variant",), ("first, s", "run, s", "step, ms", "times as fast"), times)
    if len(timed) > 1:
        print(f"times as fast: as {shown[reference]} in the same round, the median")
    print()
    print_table(("variant",), ("CPU, s", "compile, s", "peak, MB"), costs)
    best = fastest(values)
    if len(timed) < 2:
        print("\none variant: nothing to compare it with")
    elif len(best) == 1:
        print(f"\n{what}: {best[0]} is the fastest")
    else:
        print(f"\n{what}: the rounds show no fastest variant; {best[0]} has the lowest median")
    return best


def _measured(timed: Runs) -> tuple[str, dict[str, list[float]]]:
    """Return what is compared, and its seconds: steps if all runs have them, else whole runs."""
    steps = {name: [run.step for run in found] for name, found in timed.items()}
    if all(all(found) for found in steps.values()):
        return STEP, {name: [step or 0.0 for step in found] for name, found in steps.items()}
    return WHOLE, {name: [run.wall for run in found] for name, found in timed.items()}


def fastest(values: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the variant of the lowest median, then all that the rounds do not show as slower.

    values: {variant: seconds in each round}.
    """
    lowest = min(values, key=lambda name: statistics.median(values[name]))
    return [lowest] + [
        name
        for name in values
        if name != lowest and not speedup(values[lowest], values[name], "s").significant
    ]
