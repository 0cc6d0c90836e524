"""`./invoke bench --all`: every variant that verifies on this machine, one framework at a time.

A campaign may be stopped and started again: what is stored, of the same locks and settings, is not
timed a second time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence

from stacks.bench import candidates, command, machine, store
from stacks.bench.candidates import Candidate
from stacks.bench.intervals import LEAST_STARTS
from stacks.bench.schedule import QUICK_ROUNDS, BenchOptions, seconds_left
from stacks.core import cores
from stacks.core.console import duration, next_step, plural, show_error
from stacks.core.errors import StacksError, StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.care import verify
from stacks.environments.make import build
from stacks.locks import lock
from stacks.variants.load import all_variants, framework_named
from stacks.variants.variant import Variant

WORKLOADS = "gemm,elementwise,check_blas,logreg,mlp,lenet,lstm"

Make = Callable[[Workspace, Variant], None]


def make_and_verify(workspace: Workspace, variant: Variant) -> None:
    """Build and verify a variant, after locking a stack without a current lock; StacksError."""
    if variant.file:
        try:
            lock.current(workspace, variant)
        except (StaleError, UsageError):  # It is of another stack.yaml, or there is none.
            build.relock(workspace, variant)
    prefix = build.make_environment(workspace, variant)
    verify.verify_variant(workspace, variant, prefix, brief=True)


def prepare(
    workspace: Workspace,
    variants: Sequence[Variant],
    refused: tuple[type[StacksError], ...] = (StacksError,),
    make: Make = make_and_verify,
) -> list[Candidate]:
    """Lock, build and verify variants where that is missing; return those that pass.

    refused: errors that leave a variant out, which is named with the reason; others are raised.
    """
    passed = {each.variant.id for each in candidates.verified(workspace, variants)}
    missing = [variant for variant in variants if variant.id not in passed]
    begun = time.monotonic()
    for number, variant in enumerate(missing):
        print(
            f"building {variant.id}, {number + 1} of {len(missing)}"
            + _left(begun, number, len(missing)),
            file=sys.stderr,
            flush=True,
        )
        try:
            make(workspace, variant)
        except refused as error:
            print(f"left out: {variant.id}", file=sys.stderr)
            show_error(error)
    return candidates.verified(workspace, variants)


def _left(begun: float, done: int, total: int) -> str:
    return f", about {duration(seconds_left(begun, done, total))} left" if done else ""


def bench_all(
    workspace: Workspace,
    options: BenchOptions,
    machine_name: str = "",
    framework: str = "",
    make: Make = make_and_verify,
) -> None:
    """Build, verify and time every variant for the processor; store a result for each framework.

    options: by default WORKLOADS on all processors, with --quick in as few rounds as tell noise
    from speed. framework: only its variants. A variant that does not build or verify is named and
    left out.

    Raises StacksError in the end if a framework has variants to time, and none of them could be.
    """
    options = options.model_copy(
        update={
            "workload": options.workload or WORKLOADS,
            "rounds": options.rounds or (LEAST_STARTS if options.quick else QUICK_ROUNDS),
            "threads": options.threads or str(cores.affine()),
            # The first start compiles all C modules. The others find them, so they show how long
            # the rest of the compilation takes.
            "starts": LEAST_STARTS,
        }
    )
    options.check()
    only = framework_named(workspace, framework) if framework else None
    by_framework: dict[str, list[Variant]] = {}
    for variant in all_variants(workspace):
        if variant.device == "cpu" and only in (None, variant.framework.name):
            by_framework.setdefault(variant.framework.name, []).append(variant)
    for name, variants in list(by_framework.items()):
        if not _untimed(workspace, variants, options):
            print(f"{name}: timed already", file=sys.stderr)
            del by_framework[name]
    every = [variant for variants in by_framework.values() for variant in variants]
    if every:
        print("ctrl-C stops it; the same command goes on with what is not timed", file=sys.stderr)
    failed, begun = list[str](), time.monotonic()
    for number, (name, variants) in enumerate(by_framework.items()):
        print(
            f"{name}, {number + 1} of {len(by_framework)}: {plural(len(variants), 'variant')}"
            + _left(begun, number, len(by_framework)),
            file=sys.stderr,
        )
        chosen = prepare(workspace, variants, make=make)
        ids = [each.variant.id for each in chosen]
        # All are timed again where one is new: ratios are of the same rounds.
        if not set(_untimed(workspace, variants, options)) & set(ids):
            failed.append(name)
            continue
        print(f"timing {', '.join(ids)}", file=sys.stderr)
        try:
            result = command.timed(
                workspace, chosen, options, machine_name=machine_name, campaign=True
            )
        except StacksError as error:
            show_error(error)
            failed.append(name)
        else:
            path = store.write(workspace, result)
            print(f"stored in {workspace.shown(path)}", file=sys.stderr)
    if untimed := _untimed(workspace, every, options):
        print(f"not timed: {', '.join(untimed)}: see the messages above", file=sys.stderr)
    if failed:
        raise StacksError(
            f"without a result: {', '.join(failed)}", fix="see the messages above for each variant"
        )
    next_step(command.NEXT)


def _untimed(workspace: Workspace, variants: Iterable[Variant], options: BenchOptions) -> list[str]:
    """Return the variants without a whole result of this machine, these settings and their lock."""
    threads = options.thread_counts(cores.affine())
    wanted = (options.workloads, options.round_count, threads, options.quick, options.busy)
    here, timed = machine.describe([]), set[tuple[str, str]]()
    for result in (one.result for one in store.read_all(workspace)[0]):
        made = result.settings
        settings = (made.workloads, made.rounds, made.threads, made.quick, made.busy)
        if settings == wanted and here.same_hardware(result.machine):
            missing = {each.subject for each in result.missing}
            timed |= {(each.id, each.lock) for each in result.subjects if each.id not in missing}
    return [
        variant.id
        for variant in variants
        if (variant.id, lock.read(workspace, variant).sha256) not in timed
    ]
