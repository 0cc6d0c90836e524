"""Which built variant is the fastest on this machine: measured turn by turn, and verified."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from stacks.bench import machine, noise, rounds, schedule
from stacks.bench import table as bench_table
from stacks.bench.candidates import Candidate, candidates
from stacks.bench.intervals import LEAST_ROUNDS
from stacks.bench.result import Run
from stacks.bench.rows import Row, rows, winners
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.variant import Variant

ROUNDS = 7
# A variant that is not this much faster than the baseline deserves a word.
WORTH = 2.0


def recommend(
    workspace: Workspace, variants: Sequence[Variant], rounds_wanted: int = ROUNDS
) -> None:
    """Time the built variants of one framework and print which is the fastest that verifies.

    Raises UsageError where fewer than two of them are built and verified.
    """
    if rounds_wanted < LEAST_ROUNDS:
        raise UsageError(
            "too few rounds to tell noise from speed", expected=f"at least {LEAST_ROUNDS}"
        )
    built = candidates(workspace, [variant for variant in variants if variant.device == "cpu"])
    chosen = [candidate for candidate in built if candidate.verified]
    if len(chosen) < 2:
        raise UsageError(
            "nothing to choose from: fewer than two variants are built and verified",
            found=", ".join(c.variant.name for c in chosen) or "none",
            fix="./invoke build --variant NAME for each that may be meant: see ./invoke list",
        )
    for candidate in built:
        if not candidate.verified:
            print(f"left out: {candidate.variant.name}: not verified", file=sys.stderr)
    plan = schedule.Plan(
        candidates=tuple(chosen),
        workloads=("gemm",),
        threads=(machine.usable(),),
        rounds=rounds_wanted,
        quick=True,
    )
    runs = rounds.run(plan).runs
    found = rows(runs, [candidate.subject for candidate in chosen])
    for line in [*bench_table.lines(found), ""]:
        print(line)
    for line in warnings(found):
        print(f"warning: {line}", file=sys.stderr)
    for line in sentences(runs, chosen):
        print(line)
    for line in noise.remarks([run.noise for run in runs]):
        print(f"note: {line}")


def warnings(found: Sequence[Row]) -> list[str]:
    """Say which variants are less than twice as fast as the baseline."""
    return [
        f"{row.measure.name}: {bench_table.display_name(row.subject, found)} is only "
        f"{row.ratio.value:.2f} times as fast as {bench_table.display_name(row.reference, found)}"
        for row in found
        if row.ratio and row.ratio.value < WORTH
    ]


def sentences(runs: Sequence[Run], chosen: Sequence[Candidate]) -> list[str]:
    """Name the fastest for each measure; the baseline is no choice, it is what others are not."""
    allowed = {c.variant.id: c.variant.name for c in chosen if not c.variant.baseline}
    of_these = [run for run in runs if run.subject in allowed]
    if len(allowed) == 1:
        return [
            f"{name} is the only one that verifies beside the baseline" for name in allowed.values()
        ]
    return [
        bench_table.sentence(measure, [allowed[name] for name in names])
        for measure, names in winners(of_these).items()
    ]
