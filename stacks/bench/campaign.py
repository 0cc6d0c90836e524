"""`./invoke bench --all`: every variant that verifies on this machine, one framework at a time.

A campaign may be stopped and started again: what is stored, of the same locks and settings, is not
timed a second time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from stacks.bench import command, machine, probe, store
from stacks.bench.candidates import candidates
from stacks.bench.options import QUICK_ROUNDS, BenchOptions
from stacks.bench.result import Result
from stacks.core.console import next_step, plural, show_error
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments import build, verify
from stacks.locks import lock
from stacks.sources.pins import read_pins
from stacks.variants.load import all_variants
from stacks.variants.variant import Variant

WORKLOADS = (*probe.OWN, "check_blas", "logreg", "mlp", "lenet", "lstm")
# Seconds of a turn with --quick, and of the start of a program, on two cores of an AMD EPYC; ntm's
# start is that with the accelerator. Only the estimate depends on them.
TURN, QUICK_TURN, START = 15.0, 4.0, {"ntm": 240.0}
USUAL_START = 20.0
# Seconds to build and verify an environment, from packages in the cache.
PREPARATION = 60.0


def bench_all(workspace: Workspace, options: BenchOptions, machine_name: str = "") -> None:
    """Build, verify and time every variant for the processor; store a result for each framework.

    options: by default WORKLOADS, QUICK_ROUNDS rounds, all processors, one start of each program.
    A variant that does not build or verify is named and left out. Raises StacksError in the end if
    a framework has variants to time, and none of them could be.
    """
    options = _defaults(options)
    options.check()
    groups = _groups(workspace)
    left = {name: _left(workspace, variants, options) for name, variants in groups.items()}
    _print_plan(groups, left, options)
    failed = []
    for name, variants in groups.items():
        if left[name] and not _time(workspace, variants, left[name], options, machine_name):
            failed.append(name)
    if failed:
        raise StacksError(
            f"not timed: {', '.join(failed)}", fix="see the messages above for each variant"
        )
    next_step(command.NEXT)


def _time(
    workspace: Workspace,
    variants: Sequence[Variant],
    left: Sequence[Variant],
    options: BenchOptions,
    machine_name: str,
) -> bool:
    """Time the variants of a framework together if one of those that are left verifies.

    Returns whether a result was stored.
    """
    if not _prepared(workspace, left):
        return False
    ids = [each.variant.id for each in candidates(workspace, variants) if each.verified]
    print(f"timing {', '.join(ids)}", file=sys.stderr)
    try:
        result = command.timed(workspace, ",".join(ids), options=options, machine_name=machine_name)
    except StacksError as error:
        show_error(error)
        return False
    path = store.write(workspace, result)
    print(f"stored in {workspace.shown(path)}", file=sys.stderr)
    return True


def _defaults(options: BenchOptions) -> BenchOptions:
    return options.model_copy(
        update={
            "workload": options.workload or ",".join(WORKLOADS),
            "rounds": options.rounds or QUICK_ROUNDS,
            "threads": options.threads or str(machine.usable()),
            "starts": options.starts or 1,
        }
    )


def _groups(workspace: Workspace) -> dict[str, list[Variant]]:
    """Return the variants for the processor, by framework."""
    groups: dict[str, list[Variant]] = {}
    for variant in all_variants(workspace):
        if variant.device == "cpu":
            groups.setdefault(variant.framework.name, []).append(variant)
    return groups


def _left(
    workspace: Workspace, variants: Sequence[Variant], options: BenchOptions
) -> list[Variant]:
    """Return the variants without a result of this machine, these settings and their lock."""
    pins = read_pins(workspace.sources_lock)
    timed = {
        (subject.id, subject.lock)
        for one in store.read_all(workspace)[0]
        if machine.is_this(one.result.machine) and _is_same(one.result, options)
        for subject in one.result.subjects
    }
    return [
        variant
        for variant in variants
        if (variant.id, lock.read(workspace, variant, pins).sha256) not in timed
    ]


def _is_same(result: Result, options: BenchOptions) -> bool:
    settings = result.settings
    threads = command.thread_counts(options.threads, machine.usable())
    return (
        settings.workloads,
        settings.rounds,
        settings.threads,
        settings.quick,
        settings.busy,
    ) == (options.workloads, options.round_count, threads, options.quick, options.busy)


def _print_plan(
    groups: dict[str, list[Variant]], left: dict[str, list[Variant]], options: BenchOptions
) -> None:
    seconds = 0.0
    for name, variants in groups.items():
        if not left[name]:
            print(f"{name}: timed already", file=sys.stderr)
            continue
        of_this = _seconds(len(variants), options)
        seconds += of_this
        print(
            f"{name}: {plural(len(variants), 'variant')}, about {of_this / 60:.0f} min",
            file=sys.stderr,
        )
    if seconds:
        print(
            f"about {seconds / 60:.0f} min in all; ctrl-C stops it, and the same command goes on "
            "with the next framework",
            file=sys.stderr,
        )


def _seconds(count: int, options: BenchOptions) -> float:
    """Return about how long the variants of a framework take, on two cores."""
    # Beside busy loops it has about half of the machine.
    turn = (QUICK_TURN if options.quick else TURN) * (2 if options.busy else 1)
    threads = len(command.thread_counts(options.threads, machine.usable()))
    total = PREPARATION
    for workload in options.workloads:
        turns = options.round_count * (1 if workload in probe.ON_ONE_THREAD else threads)
        total += turns * turn
        if workload not in probe.OWN:
            total += options.starts * START.get(workload, USUAL_START)
    return total * count


def _prepared(workspace: Workspace, variants: Sequence[Variant]) -> list[Variant]:
    """Build and verify variants where that is missing; return those that pass, name the others."""
    passed = {each.variant.id for each in candidates(workspace, variants) if each.verified}
    for variant in variants:
        if variant.id in passed:
            continue
        try:
            prefix = build.make_environment(workspace, variant)
            verify.verify_variant(workspace, variant, prefix)
        except StacksError as error:
            print(f"left out: {variant.id}", file=sys.stderr)
            show_error(error)
        else:
            passed.add(variant.id)
    return [variant for variant in variants if variant.id in passed]
