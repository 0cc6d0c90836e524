"""The fastest built and verified variant on this machine, timed in turn with the others."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace

from stacks.bench import noise, rounds, schedule
from stacks.bench import table as bench_table
from stacks.bench.candidates import Candidate, verified_candidates
from stacks.bench.intervals import LEAST_STARTS
from stacks.bench.options import BenchOptions
from stacks.bench.result import Run
from stacks.bench.rows import Row, beside, rows, winners
from stacks.core import cores
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.variant import Variant

ROUNDS = 9
# A smaller ratio to the baseline is a warning.
WORTH = 2.0


def recommend(
    workspace: Workspace, variants: Sequence[Variant], rounds_wanted: int = ROUNDS, busy: int = 0
) -> None:
    """Time the built variants of one framework and print the fastest that is verified.

    busy: with such busy loops a small program is timed too, and all of it idle and beside the
    loops. Raises UsageError if fewer than two variants are built and verified.
    """
    if busy < 0:
        raise UsageError("--busy is a positive number", found=str(busy))
    if rounds_wanted < LEAST_STARTS:
        raise UsageError(
            "too few rounds to tell noise from speed", expected=f"at least {LEAST_STARTS}"
        )
    chosen = verified_candidates(workspace, variants)
    if len(chosen) < 2:
        raise UsageError(
            "nothing to choose from: fewer than two variants are built and verified",
            found=", ".join(c.variant.name for c in chosen) or "none",
            fix="./invoke build --variant NAME for each candidate: see ./invoke list",
        )
    workload = "gemm,mlp" if busy else "gemm"
    runs: list[Run] = []
    for loops in dict.fromkeys((0, busy)):
        options = BenchOptions(workload=workload, rounds=rounds_wanted, quick=True, busy=loops)
        runs += rounds.run(schedule.Plan(tuple(chosen), options, (cores.affine(),))).runs
    measured = rows(runs, [candidate.subject for candidate in chosen])
    for line in [*bench_table.lines(measured), ""]:
        print(line)
    baselines = {each.variant.id for each in chosen if each.variant.baseline}
    for line in warnings(measured, baselines):
        print(f"warning: {line}", file=sys.stderr)
    for line in winner_sentences(runs, chosen):
        print(line)
    for line in noise.remarks([run.noise for run in runs]):
        print(f"note: {line}")


def warnings(measured: Sequence[Row], baselines: Collection[str]) -> list[str]:
    """Return a warning for each variant that is less than twice as fast as its baseline."""
    return [
        f"{row.measure.label}: {bench_table.display_name(row.subject, measured)} is only "
        f"{row.ratio.value:.2f} times as fast as "
        f"{bench_table.display_name(row.reference, measured)}"
        for row in measured
        if row.ratio and row.ratio.value < WORTH and row.reference in baselines
    ]


def winner_sentences(runs: Sequence[Run], chosen: Sequence[Candidate]) -> list[str]:
    """Return a sentence for each measure with the fastest variant besides the baseline.

    For a measure that was timed idle and beside busy loops, another one with the fastest in both.
    """
    allowed = {c.variant.id: c.variant.name for c in chosen if not c.variant.baseline}
    of_these = [run for run in runs if run.subject in allowed]
    if len(allowed) == 1:
        return [
            f"{name} is the only verified variant for the processor besides the baseline"
            for name in allowed.values()
        ]
    fastest = winners(of_these)
    sentences = [
        bench_table.winner_sentence(measure, [allowed[name] for name in names])
        for measure, names in fastest.items()
    ]
    for measure, names in fastest.items():
        if measure.busy:
            idle = replace(measure, busy=0)
            both = [allowed[name] for name in fastest.get(idle, ()) if name in names]
            sentences.append(
                f"{idle.title}: the fastest idle and{beside(measure.busy)}: "
                + (", ".join(both) or "none")
            )
    return sentences
