"""`./invoke bench --all`: every variant that verifies on this machine, one framework at a time.

A campaign may be stopped and started again: what is stored, of the same locks and settings, is not
timed a second time.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from stacks.bench import command, machine, store
from stacks.bench.candidates import candidates
from stacks.bench.intervals import LEAST_STARTS
from stacks.bench.options import QUICK_ROUNDS, BenchOptions
from stacks.bench.probe import KERNELS
from stacks.bench.progress import duration
from stacks.bench.result import Result
from stacks.bench.schedule import ALIKE
from stacks.core import cores
from stacks.core.console import next_step, plural, show_error
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments.care import verify
from stacks.environments.make import build
from stacks.locks import lock
from stacks.variants.load import all_variants, framework_named
from stacks.variants.variant import Variant
from verify.workloads import rounds

WORKLOADS = (*KERNELS, "check_blas", "logreg", "mlp", "lenet", "lstm")
# The three steps of the article that the project began with: see stacks/timings/article.py.
STEPS_FRAMEWORK, STEPS = "theano-0.8.2", ("pip-default", "mkl", "mkl-amdlibm")
STEPS_WORKLOAD = "ntm"
# Of an environment that are no hard links to the cache, and of what it adds to the cache.
ENVIRONMENT_BYTES = 3e8


@dataclass(frozen=True)
class Session:
    """Variants of a framework that take turns, and how: what is stored in one file."""

    name: str
    variants: tuple[Variant, ...]
    options: BenchOptions


def bench_all(
    workspace: Workspace, options: BenchOptions, machine_name: str = "", framework: str = ""
) -> None:
    """Build, verify and time every variant for the processor; store a result for each session.

    options: by default WORKLOADS, with --quick as few rounds as tell noise from speed, all
    processors, and LEAST_STARTS starts of each program; then the article's three steps too.
    framework: only its variants. A variant that does not build or verify is named and left out.
    Raises StacksError before the first if the disk is too small, and in the end if a session has
    variants to time, and none of them could be.
    """
    every = _sessions(workspace, options, framework)
    sessions = [each for each in every if _untimed(workspace, each)]
    for each in every:
        if each not in sessions:
            print(f"{each.name}: timed already", file=sys.stderr)
    _check_space(workspace, sessions)
    if sessions:
        print("ctrl-C stops it; the same command goes on with what is not timed", file=sys.stderr)
    left_out: dict[str, None] = {}
    failed: list[str] = []
    begun = time.monotonic()
    for number, session in enumerate(sessions):
        count = plural(len(session.variants), "variant")
        left = (time.monotonic() - begun) / max(number, 1) * (len(sessions) - number)
        print(
            f"{session.name}, {number + 1} of {len(sessions)}: {count}"
            + (f", about {duration(left)} left in all" if number else ""),
            file=sys.stderr,
        )
        if not _time(workspace, session, machine_name, left_out):
            failed.append(session.name)
    if left_out:
        print(f"left out: {', '.join(left_out)}: see the messages above", file=sys.stderr)
    if failed:
        raise StacksError(
            f"not timed: {', '.join(failed)}", fix="see the messages above for each variant"
        )
    next_step(command.NEXT)


def _sessions(workspace: Workspace, options: BenchOptions, framework: str) -> list[Session]:
    """Return a session for each framework, or for one, and that of the three steps."""
    only = framework_named(workspace, framework) if framework else None
    by_framework: dict[str, list[Variant]] = {}
    for variant in all_variants(workspace):
        if variant.device == "cpu" and only in (None, variant.framework.name):
            by_framework.setdefault(variant.framework.name, []).append(variant)
    # The first start of a program compiles its C modules, with those of the other variants at once;
    # the others find them, so they show how long the compilation takes.
    usual = _with_defaults(options, WORKLOADS, LEAST_STARTS)
    sessions = [Session(name, tuple(found), usual) for name, found in by_framework.items()]
    steps = tuple(each for each in by_framework.get(STEPS_FRAMEWORK, ()) if each.name in STEPS)
    if steps and not options.workload:
        once = _with_defaults(options, (STEPS_WORKLOAD,), 1).model_copy(update={"together": True})
        sessions.append(Session(f"{STEPS_FRAMEWORK}, {STEPS_WORKLOAD}", steps, once))
    for each in sessions:
        each.options.check()
    return sessions


def _with_defaults(options: BenchOptions, workloads: Sequence[str], starts: int) -> BenchOptions:
    return options.model_copy(
        update={
            "workload": options.workload or ",".join(workloads),
            "rounds": options.rounds or (LEAST_STARTS if options.quick else QUICK_ROUNDS),
            "threads": options.threads or str(cores.affine()),
            "starts": options.starts or starts,
        }
    )


def _time(
    workspace: Workspace, session: Session, machine_name: str, left_out: dict[str, None]
) -> bool:
    """Time the variants of a session together if an untimed one verifies; store the result.

    left_out: takes the names of those that do not. Returns whether a result was stored.
    """
    ids = _prepared(workspace, session.variants, left_out)
    if not set(_untimed(workspace, session)) & set(ids):
        return False
    print(f"timing {', '.join(ids)}", file=sys.stderr)
    try:
        result = command.timed(
            workspace,
            ",".join(ids),
            options=session.options,
            machine_name=machine_name,
            campaign=True,
        )
    except StacksError as error:
        show_error(error)
        return False
    path = store.write(workspace, result)
    print(f"stored in {workspace.shown(path)}", file=sys.stderr)
    return True


def _prepared(
    workspace: Workspace, variants: Sequence[Variant], left_out: dict[str, None]
) -> list[str]:
    """Build and verify variants where that is missing; return those that pass, name the others."""
    passed = {each.variant.id for each in candidates(workspace, variants) if each.verified}
    for variant in variants:
        if variant.id in passed:
            continue
        try:
            prefix = build.make_environment(workspace, variant)
            verify.verify_variant(workspace, variant, prefix, brief=True)
        except StacksError as error:
            print(f"left out: {variant.id}", file=sys.stderr)
            show_error(error)
            left_out[variant.id] = None
    return [each.variant.id for each in candidates(workspace, variants) if each.verified]


def _untimed(workspace: Workspace, session: Session) -> list[str]:
    """Return the variants without a whole result of this machine, these settings and their lock."""
    timed = {
        (subject.id, subject.lock)
        for one in store.read_all(workspace)[0]
        if machine.is_this(one.result.machine) and _is_same(one.result, session.options)
        for subject in one.result.subjects
        if subject.id not in {missing.subject for missing in one.result.missing}
    }
    locks = {v.id: lock.read(workspace, v).sha256 for v in session.variants}
    return [name for name, sha256 in locks.items() if (name, sha256) not in timed]


def _is_same(result: Result, options: BenchOptions) -> bool:
    """Return whether a result is of a campaign with these options."""
    made, threads = result.settings, command.thread_counts(options.threads, cores.affine())
    settings = made.workloads, made.rounds, made.threads, made.quick, made.busy
    marks = command.FIX_SCAN in result.remarks, command.TOGETHER in result.remarks
    return (
        settings == (options.workloads, options.round_count, threads, options.quick, options.busy)
        and marks == (options.fix_scan, options.together)
        and _starts_and_calls_are_same(result, options)
    )


def _starts_and_calls_are_same(result: Result, options: BenchOptions) -> bool:
    programs = [run for run in result.runs if run.workload in rounds.PROGRAMS]
    starts = {run.start or 0 for run in programs if run.workload not in ALIKE}
    return max(starts, default=0) in (0, min(options.starts, options.round_count)) and all(
        len(one.samples) == (options.calls or rounds.calls_of(run.workload, options.quick))
        for run in programs
        for one in run.series
    )


def _check_space(workspace: Workspace, sessions: Sequence[Session]) -> None:
    """Raise StacksError if the disk is too small for the environments that are not built."""
    every = {variant.id: variant for session in sessions for variant in session.variants}
    built = candidates(workspace, list(every.values()))
    count = len(every) - sum(each.verified for each in built)
    folder = next(path for path in (workspace.build, *workspace.build.parents) if path.is_dir())
    needed, free = ENVIRONMENT_BYTES * count, shutil.disk_usage(folder).free
    if free < needed:
        raise StacksError(
            f"the disk of {workspace.shown(workspace.build)} is too small for "
            f"{plural(count, 'environment')}",
            expected=f"{needed / 1e9:.0f} GB free",
            found=f"{free / 1e9:.0f} GB",
            fix="make room; `./invoke clean` removes the environments that are built",
        )
