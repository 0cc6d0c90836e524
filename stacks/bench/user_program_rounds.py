"""A user's program on several variants, in turn: the rounds, their table, the fastest variant.

Another variant is the first in each round, as in the bench of workloads.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path

from stacks.bench import noise
from stacks.bench.candidates import Candidate
from stacks.bench.command import choose_candidates
from stacks.bench.intervals import Ratio, speedup, summary
from stacks.bench.progress import duration
from stacks.bench.schedule import rotated
from stacks.bench.user_program import ProgramRun, run_once
from stacks.core import cores
from stacks.core.console import display_path, print_table
from stacks.core.disk import write_atomically
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.variant import Variant

ROUNDS = 9
SCHEMA = 1

Runs = dict[str, list[ProgramRun]]


def bench_named(
    workspace: Workspace,
    names: Sequence[str],
    framework: str,
    command: Sequence[str],
    *,
    rounds: int = 0,
    json_file: Path | None = None,
) -> None:
    """Do as `bench` with variants by name, or with all that are built and verified.

    Raises UsageError if a variant cannot be timed.
    """
    candidates = choose_candidates(workspace, names, framework)
    bench(candidates, command, rounds=rounds, json_file=json_file)


def bench(
    candidates: Sequence[Candidate],
    command: Sequence[str],
    *,
    rounds: int = 0,
    json_file: Path | None = None,
) -> list[str]:
    """Time a program on variants in rounds, after a first run of each; print a table.

    The first run compiles what the environment has not compiled before. rounds: 0 for the default.
    json_file: also write every run there. Returns the variant of the lowest median and those that
    the rounds do not show to be slower. Raises ProgramError with the program's status if it fails,
    CommandError if it cannot be started; then no figure is kept.
    """
    rounds = rounds or ROUNDS
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}", expected="at least 1")
    runs: Runs = {name_of(each.variant, candidates): [] for each in candidates}
    noises = []
    for number in range(rounds + 1):
        for candidate in rotated(candidates, number):
            name = name_of(candidate.variant, candidates)
            before = noise.read()
            run = run_once(candidate, command)
            runs[name].append(run)
            if number:
                noises.append(noise.between(before, noise.read(), cores.affine()))
            of = f"round {number} of {rounds}" if number else "first run"
            line = f"  {of}: {name}: {run.wall:.2f} s{_left(runs, rounds)}"
            print(line, file=sys.stderr, flush=True)
    first = {name: found[0] for name, found in runs.items()}
    timed = {name: found[1:] for name, found in runs.items()}
    best = show(first, timed)
    for remark in noise.remarks(noises):
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


def _left(runs: Runs, rounds: int) -> str:
    """Return how long the runs to come will take, by the last ones; empty if not all have run."""
    walls = [(rounds + 1 - len(found)) * found[-1].wall for found in runs.values() if found]
    seconds = sum(walls)
    return f", about {duration(seconds)} left" if len(walls) == len(runs) and seconds else ""


def name_of(variant: Variant, candidates: Sequence[Candidate]) -> str:
    """Return the name of a variant among others: of two stacks with one id, the file."""
    is_unique = sum(each.variant.id == variant.id for each in candidates) == 1
    return variant.id if is_unique or not variant.file else display_path(variant.file)


def show(first: dict[str, ProgramRun], timed: Runs) -> list[str]:
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


def best(timed: Runs, has_steps: bool) -> list[str]:
    """Return the variant of the lowest median, then all that the rounds do not show as slower."""
    lowest = min(timed, key=lambda name: statistics.median(_values(timed[name], has_steps)))
    others = [name for name in timed if name != lowest]
    ratios = {name: _ratio(timed[lowest], timed[name], has_steps) for name in others}
    return [lowest, *(name for name, ratio in ratios.items() if not ratio.significant)]


def verdict(timed: Runs, has_steps: bool) -> str:
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
