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
from stacks.bench.candidates import candidates, prepare
from stacks.bench.intervals import LEAST_STARTS
from stacks.bench.schedule import BenchOptions
from stacks.core import cores
from stacks.core.console import duration, next_step, plural, show_error
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments.care import verify
from stacks.environments.make import build
from stacks.locks import lock
from stacks.variants.load import all_variants, framework_named
from stacks.variants.variant import Variant
from verify.workloads.rounds import QUICK_ROUNDS

WORKLOADS = "gemm,elementwise,check_blas,logreg,mlp,lenet,lstm"
# The three steps of the article that the project began with: see stacks/timings/survey.py.
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

    options: by default WORKLOADS on all processors, with --quick in as few rounds as tell noise
    from speed, then the article's three steps. framework: only its variants. A variant that does
    not build or verify is named and left out.

    Raises StacksError before the first session if the disk is too small, and in the end if one has
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
    failed, begun = list[str](), time.monotonic()
    for number, session in enumerate(sessions):
        left = (time.monotonic() - begun) / max(number, 1) * (len(sessions) - number)
        print(
            f"{session.name}, {number + 1} of {len(sessions)}: "
            + plural(len(session.variants), "variant")
            + (f", about {duration(left)} left in all" if number else ""),
            file=sys.stderr,
        )
        if not _time(workspace, session, machine_name):
            failed.append(session.name)
    untimed = dict.fromkeys(name for each in sessions for name in _untimed(workspace, each))
    if untimed:
        print(f"not timed: {', '.join(untimed)}: see the messages above", file=sys.stderr)
    if failed:
        raise StacksError(
            f"without a result: {', '.join(failed)}", fix="see the messages above for each variant"
        )
    next_step(command.NEXT)


def _sessions(workspace: Workspace, options: BenchOptions, framework: str) -> list[Session]:
    """Return a session for each framework, or for one, and that of the three steps."""
    only = framework_named(workspace, framework) if framework else None
    by_framework: dict[str, list[Variant]] = {}
    for variant in all_variants(workspace):
        if variant.device == "cpu" and only in (None, variant.framework.name):
            by_framework.setdefault(variant.framework.name, []).append(variant)
    usual = options.model_copy(
        update={
            "workload": options.workload or WORKLOADS,
            "rounds": options.rounds or (LEAST_STARTS if options.quick else QUICK_ROUNDS),
            "threads": options.threads or str(cores.affine()),
            # The first start compiles all C modules. The others find them, so they show how long
            # the rest of the compilation takes.
            "starts": LEAST_STARTS,
        }
    )
    usual.check()
    sessions = [Session(name, tuple(found), usual) for name, found in by_framework.items()]
    steps = tuple(each for each in by_framework.get(STEPS_FRAMEWORK, ()) if each.name in STEPS)
    if steps and not options.workload:
        once = usual.model_copy(update={"workload": STEPS_WORKLOAD, "starts": 1})
        sessions.append(Session(f"{STEPS_FRAMEWORK}, {STEPS_WORKLOAD}", steps, once))
    return sessions


def _time(workspace: Workspace, session: Session, machine_name: str) -> bool:
    """Build, verify and time the variants of a session together; store the result.

    Returns whether there is one: a variant that is not timed yet must pass its verification.
    """
    chosen = prepare(workspace, session.variants, make, StacksError)
    ids = [each.variant.id for each in chosen]
    if not set(_untimed(workspace, session)) & set(ids):
        return False
    print(f"timing {', '.join(ids)}", file=sys.stderr)
    try:
        result = command.timed(
            workspace, chosen, session.options, machine_name=machine_name, campaign=True
        )
    except StacksError as error:
        show_error(error)
        return False
    print(f"stored in {workspace.shown(store.write(workspace, result))}", file=sys.stderr)
    return True


def make(workspace: Workspace, variant: Variant) -> None:
    """Build and verify a variant; raises StacksError."""
    prefix = build.make_environment(workspace, variant)
    verify.verify_variant(workspace, variant, prefix, brief=True)


def _untimed(workspace: Workspace, session: Session) -> list[str]:
    """Return the variants without a whole result of this machine, these settings and their lock."""
    options = session.options
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
        for variant in session.variants
        if (variant.id, lock.read(workspace, variant).sha256) not in timed
    ]


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
