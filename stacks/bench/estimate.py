"""What a campaign costs: seconds and bytes, from turns that were measured.

Measured on two quiet cores of an AMD EPYC (Zen 5), with --quick; only the printed estimate and the
check of the disk depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from stacks.bench import machine, probe
from stacks.bench.command import thread_counts
from stacks.bench.options import BenchOptions
from stacks.variants.variant import Variant

# Seconds to build an environment from packages in the cache, and to verify it.
PREPARATION = 30.0
# Seconds of a turn of gemm and elementwise, with the start of its process.
OWN_TURN, QUICK_OWN_TURN = 15.0, 5.0
# {program: seconds of its first start, of the next ones, of a round with --quick}
PROGRAMS = {"check_blas": (10.0, 9.0, 4.0), "logreg": (20.0, 4.0, 0.3), "ntm": (420.0, 60.0, 5.0)}
USUAL = (40.0, 10.0, 2.0)
# Without --quick a round has five times as many calls.
FULL = 5.0
# Bytes of an environment that are no hard links to the cache, and of what it adds to the cache.
BYTES = 3e8


def seconds(variants: Sequence[Variant], options: BenchOptions, to_make: int) -> float:
    """Return about how long it takes to time the variants, and first to make some of them."""
    # Beside busy loops a program has about half of the machine.
    slower = 2.0 if options.busy else 1.0
    counts = len(thread_counts(options.threads, machine.usable()))
    total = PREPARATION * to_make
    for variant in variants:
        # PyTensor's programs run twice, with C and with numba.
        linkers = 2 if variant.framework.module == "pytensor" else 1
        if set(options.workloads) & set(probe.OWN):
            turn = QUICK_OWN_TURN if options.quick else OWN_TURN
            total += (1 + options.round_count) * counts * turn * slower
        for workload in options.workloads:
            if workload not in probe.OWN:
                first, later, round_ = PROGRAMS.get(workload, USUAL)
                rounds = options.round_count * round_ * (1 if options.quick else FULL) * slower
                starts = first + (max(options.starts, 1) - 1) * later
                total += linkers * counts * (starts + rounds)
    return total


def bytes_of(count: int) -> float:
    """Return about how many bytes of the disk so many new environments take."""
    return BYTES * count
