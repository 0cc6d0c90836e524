"""What a campaign costs: seconds and bytes; only what it prints and its check of the disk use it.

The seconds are those of pip-default, openblas and mkl on Theano 1.0.5, with --quick, on two quiet
cores of an AMD EPYC (Zen 4); of ntm those of docs/notes.md. Those of numba are guesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacks.bench import probe, schedule
from stacks.bench.command import thread_counts
from stacks.bench.options import BenchOptions
from stacks.core import cores
from stacks.variants.variant import ACCELERATOR, Variant


@dataclass(frozen=True)
class _Cost:
    """Seconds of a program's start with nothing compiled, of a later one, of a round, of the end.

    shared: of the first start where modules of other environments are found. numba: of a start, and
    of a round, with it.
    """

    first: float
    shared: float
    later: float
    round: float
    end: float
    numba: float = 0.0


# Seconds to build an environment from packages in the cache, and to verify it.
PREPARATION = 26.0
# Seconds of a turn of gemm and elementwise, with the start of its process.
OWN_TURN, QUICK_OWN_TURN = 15.0, 4.2
COSTS = {
    "check_blas": _Cost(11.0, 8.5, 9.0, 5.0, 0.0),
    "logreg": _Cost(7.0, 3.0, 1.9, 0.1, 0.1, numba=10.0),
    "mlp": _Cost(5.0, 2.2, 2.0, 0.5, 0.2, numba=10.0),
    "lenet": _Cost(22.0, 6.2, 2.6, 0.2, 0.3, numba=20.0),
    "lstm": _Cost(48.0, 5.0, 4.3, 0.6, 0.7, numba=40.0),
    "ntm": _Cost(620.0, 106.0, 11.0, 3.1, 1.6, numba=800.0),
}
# Without --quick a round has so many times as many calls.
FULL = 5.0
# A noisy Zen 3 takes so many times as long.
SLOW = 2.0
# Compilers that run at once share the processors.
AT_ONCE = 2.0
# Bytes of an environment that are no hard links to the cache, and of what it adds to the cache.
BYTES = 3e8


def seconds(variants: Sequence[Variant], options: BenchOptions, to_make: int) -> float:
    """Return about how long it takes to time the variants, and first to make some of them."""
    plan = schedule.Plan(
        candidates=(),
        workloads=options.workloads,
        threads=thread_counts(options.threads, cores.affine()),
        rounds=options.round_count,
        quick=options.quick,
        starts=options.starts,
        every_count=bool(options.threads),
        together=options.together,
        busy=options.busy,
    )
    total = PREPARATION * to_make
    if set(plan.workloads) & set(probe.OWN):
        turn = (QUICK_OWN_TURN if plan.quick else OWN_TURN) * _slower(plan)
        total += len(variants) * (1 + plan.rounds) * len(plan.threads) * turn
    for workload in plan.workloads:
        if workload in COSTS:
            counts = len(schedule.counts_of(workload, plan))
            total += counts * _program(workload, plan, variants)
    return total


def minutes(seconds: float) -> str:
    """Return the minutes that such a time takes, from a fast machine to a slow one."""
    return f"{seconds / 60:.0f} to {SLOW * seconds / 60:.0f} min"


def _program(workload: str, plan: schedule.Plan, variants: Sequence[Variant]) -> float:
    """Return the seconds of a program on all variants and one count of threads."""
    cost = COSTS[workload]
    starts = schedule.starts_of(workload, plan)
    # With --quick a campaign compiles no program with numba.
    with_numba = [v for v in variants if not plan.quick and probe.runs_numba(v.framework, workload)]
    # The accelerator of Theano takes modules of other environments.
    first = [cost.shared if ACCELERATOR in v.accelerator else cost.first for v in variants]
    compiling = sum(first) + cost.numba * len(with_numba)
    if starts > 1 or plan.together:
        compiling = max([*first, compiling / AT_ONCE])
    rounds = plan.rounds * cost.round * (1 if plan.quick else FULL) * _slower(plan)
    later = (starts - 1) * cost.later + rounds + starts * cost.end
    numba = (starts - 1) * cost.numba + rounds
    return compiling + later * len(variants) + numba * len(with_numba)


def _slower(plan: schedule.Plan) -> float:
    """Return how many times as long a round takes: beside busy loops it has half of the machine."""
    return 2.0 if plan.busy else 1.0


def bytes_of(count: int) -> float:
    """Return about how many bytes of the disk so many new environments take."""
    return BYTES * count
