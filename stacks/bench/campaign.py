"""`./invoke bench --all`: every variant that verifies on this machine, one framework at a time.

A campaign may be stopped and started again: what is stored, of the same locks and settings, is not
timed a second time.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from stacks.bench import command, estimate, machine, probe, store
from stacks.bench.candidates import candidates
from stacks.bench.intervals import LEAST_STARTS
from stacks.bench.options import QUICK_ROUNDS, BenchOptions
from stacks.bench.result import Result
from stacks.core import cores
from stacks.core.console import next_step, plural, show_error
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments import build, verify
from stacks.locks import lock
from stacks.variants.load import all_variants, framework_named
from stacks.variants.variant import Variant

WORKLOADS = ("gemm", "elementwise", "check_blas", "logreg", "mlp", "lenet", "lstm")
# The three steps of the article that the project began with: see stacks/timings/article.py.
STEPS_FRAMEWORK, STEPS = "theano-0.8.2", ("pip-default", "mkl", "mkl-amdlibm")
STEPS_WORKLOAD = "ntm"
# The first start of a program compiles its C modules, with those of the other variants at once; the
# others find them, so they show how long the compilation takes.
STARTS = LEAST_STARTS


@dataclass(frozen=True)
class Session:
    """Variants of a framework that take turns, and how: what is stored in one file.

    left: those without a result of this machine, these settings and their lock.
    """

    name: str
    variants: tuple[Variant, ...]
    options: BenchOptions
    left: tuple[Variant, ...]


def bench_all(
    workspace: Workspace, options: BenchOptions, machine_name: str = "", framework: str = ""
) -> None:
    """Build, verify and time every variant for the processor; store a result for each session.

    options: by default WORKLOADS, with --quick as few rounds as tell noise from speed, all
    processors, and STARTS starts of each program; then the article's three steps too. framework:
    only its variants. A variant that does not build or verify is named and left out. Raises
    StacksError before the first if the disk is too small, and in the end if a session has variants
    to time, and none of them could be.
    """
    sessions = _sessions(workspace, options, framework)
    _print_plan(workspace, sessions)
    left_out: dict[str, None] = {}
    failed = [
        session.name
        for session in sessions
        if session.left and not _time(workspace, session, machine_name, left_out)
    ]
    if left_out:
        print(f"left out: {', '.join(left_out)}: see the messages above", file=sys.stderr)
    if failed:
        raise StacksError(
            f"not timed: {', '.join(failed)}", fix="see the messages above for each variant"
        )
    next_step(command.NEXT)


def _sessions(workspace: Workspace, options: BenchOptions, framework: str = "") -> list[Session]:
    """Return a session for each framework, or for one, and that of the three steps."""
    only = framework_named(workspace, framework) if framework else None
    variants = [
        variant
        for variant in all_variants(workspace)
        if variant.device == "cpu" and only in (None, variant.framework.name)
    ]
    steps = [v for v in variants if v.framework.name == STEPS_FRAMEWORK and v.name in STEPS]
    usual = _defaults(options, WORKLOADS, STARTS)
    sessions = []
    for name in dict.fromkeys(variant.framework.name for variant in variants):
        ours = [variant for variant in variants if variant.framework.name == name]
        sessions.append(_session(workspace, name, ours, usual))
    if steps and not options.workload:
        once = _defaults(options, (STEPS_WORKLOAD,), 1).model_copy(update={"together": True})
        name = f"{STEPS_FRAMEWORK}, {STEPS_WORKLOAD}"
        sessions.append(_session(workspace, name, steps, once))
    return sessions


def _session(
    workspace: Workspace, name: str, variants: Sequence[Variant], options: BenchOptions
) -> Session:
    options.check()
    left = _left(workspace, variants, options)
    return Session(name, tuple(variants), options, tuple(left))


def _defaults(options: BenchOptions, workloads: Sequence[str], starts: int) -> BenchOptions:
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
    """Time the variants of a session together if one of those that are left verifies.

    left_out: takes the names of those that do not. Returns whether a result was stored.
    """
    passed = {variant.id for variant in _prepared(workspace, session.variants, left_out)}
    if not any(variant.id in passed for variant in session.left):
        return False
    built = candidates(workspace, session.variants)
    ids = [each.variant.id for each in built if each.verified]
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


def _left(
    workspace: Workspace, variants: Sequence[Variant], options: BenchOptions
) -> list[Variant]:
    """Return the variants without a whole result of this machine, these settings and their lock."""
    timed = {
        (subject.id, subject.lock)
        for one in store.read_all(workspace)[0]
        if machine.is_this(one.result.machine) and _is_same(one.result, options)
        for subject in one.result.subjects
        if subject.id not in {missing.subject for missing in one.result.missing}
    }
    return [
        variant
        for variant in variants
        if (variant.id, lock.read(workspace, variant).sha256) not in timed
    ]


def _is_same(result: Result, options: BenchOptions) -> bool:
    settings = result.settings
    programs = set(settings.workloads) - {*probe.OWN, *probe.ALIKE}
    starts = max((run.start or 0 for run in result.runs if run.workload in programs), default=0)
    if starts not in (0, min(options.starts, options.round_count)):
        return False
    for run in result.runs:
        if run.workload in settings.workloads and run.workload not in probe.OWN:
            calls = options.calls or probe.calls_of(run.workload, quick=options.quick)
            if any(len(one.samples) != calls for one in run.series):
                return False
    made = command.FIX_SCAN in result.remarks, command.TOGETHER in result.remarks
    if made != (options.fix_scan, options.together):
        return False
    threads = command.thread_counts(options.threads, cores.affine())
    return (
        settings.workloads,
        settings.rounds,
        settings.threads,
        settings.quick,
        settings.busy,
    ) == (options.workloads, options.round_count, threads, options.quick, options.busy)


def _print_plan(workspace: Workspace, sessions: Sequence[Session]) -> None:
    """Print how long each session takes; raise StacksError if the disk is too small for them."""
    total, missing = 0.0, set[str]()
    for session in sessions:
        if not session.left:
            print(f"{session.name}: timed already", file=sys.stderr)
            continue
        built = candidates(workspace, session.variants)
        ready = {each.variant.id for each in built if each.verified}
        to_make = {variant.id for variant in session.variants} - ready - missing
        missing |= to_make
        seconds = estimate.seconds(session.variants, session.options, len(to_make))
        total += seconds
        print(
            f"{session.name}: {plural(len(session.variants), 'variant')}, "
            f"{estimate.minutes(seconds)}",
            file=sys.stderr,
        )
    if not total:
        return
    print(
        f"{estimate.minutes(total)} in all, and {estimate.bytes_of(len(missing)) / 1e9:.0f} GB of "
        "disk; ctrl-C stops it, and the same command begins the unfinished framework again",
        file=sys.stderr,
    )
    _check_space(workspace, len(missing))


def _check_space(workspace: Workspace, count: int) -> None:
    folder = next(path for path in (workspace.build, *workspace.build.parents) if path.is_dir())
    needed, free = estimate.bytes_of(count), shutil.disk_usage(folder).free
    if free < needed:
        raise StacksError(
            f"the disk of {workspace.shown(workspace.build)} is too small for "
            f"{plural(count, 'environment')}",
            expected=f"{needed / 1e9:.0f} GB free",
            found=f"{free / 1e9:.0f} GB",
            fix="make room; `./invoke clean` removes the environments that are built",
        )


def _prepared(
    workspace: Workspace, variants: Sequence[Variant], left_out: dict[str, None]
) -> list[Variant]:
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
        else:
            passed.add(variant.id)
    return [variant for variant in variants if variant.id in passed]
