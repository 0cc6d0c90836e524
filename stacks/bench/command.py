"""`./invoke bench`, also of all variants, and `./invoke results`.

`bench --all` times every variant that verifies on this machine, one framework at a time. It may be
stopped and started again: what is stored, of the same locks and settings, is not timed a second
time.
"""

import datetime
import sys
import time
from collections.abc import Callable, Iterable, Sequence

from stacks.bench import candidates, rounds, store
from stacks.bench import result as results
from stacks.bench import rows as bench_rows
from stacks.bench.candidates import Candidate, choose_candidates
from stacks.bench.intervals import LEAST_STARTS
from stacks.bench.result import Result, Run, Settings
from stacks.bench.schedule import QUICK_ROUNDS, BenchOptions, Plan, seconds_left, split
from stacks.core.console import duration, next_step, plural, show_error
from stacks.core.disk import INSTALLED
from stacks.core.errors import StacksError, StaleError, UsageError, unknown
from stacks.core.workspace import Workspace, revision
from stacks.environments.care import verify
from stacks.environments.make import build
from stacks.locks import lock
from stacks.variants.load import select
from stacks.variants.variant import Variant
from verify.core import machine

# What a user does with a result: the page of timings belongs to a checkout.
NEXT = "./invoke results" if INSTALLED else "./invoke publish"
# Of `bench --all`.
WORKLOADS = "gemm,elementwise,check_blas,logreg,mlp,lenet,lstm"

Make = Callable[[Workspace, Variant], None]


def bench(
    workspace: Workspace,
    variants: str = "",
    framework: str = "",
    *,
    options: BenchOptions,
    machine_name: str = "",
) -> None:
    """Time variants in turn, store the result and print it; raises what `timed` raises."""
    chosen = choose_candidates(workspace, split(variants), framework)
    result = timed(workspace, chosen, options, machine_name=machine_name)
    path = store.write(workspace, result)
    bench_rows.show(result)
    print(f"stored in {workspace.shown(path)}", file=sys.stderr)


def timed(
    workspace: Workspace,
    chosen: Sequence[Candidate],
    options: BenchOptions,
    *,
    machine_name: str = "",
    campaign: bool = False,
) -> Result:
    """Time variants in turn and return the result.

    campaign: as of a Plan. Raises UsageError for what cannot be timed, another StacksError if a
    process fails.
    """
    _check(chosen, options)
    threads = options.thread_counts(machine.usable_cores(), machine.affine_cores())
    here = results.describe_machine([each.report for each in chosen if each.report])
    # The name of its folder: its devices are in it.
    devices = {each.device.name.partition(",")[0] for each in chosen if each.device}
    name = results.slug(" ".join([here.name, *sorted(devices)])) if devices else here.name
    here = store.named(workspace, here.model_copy(update={"name": name}), machine_name)
    began = datetime.datetime.now(datetime.timezone.utc)
    start = time.monotonic()
    # Before the rounds: files may change while they run.
    commit, changed = revision()
    measured = rounds.run(Plan(tuple(chosen), options, threads, campaign))
    seconds = time.monotonic() - start
    return Result(
        schema=store.SCHEMA,
        began=began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(seconds, 1),
        commit=commit,
        changed=changed,
        machine=here,
        settings=Settings(
            workloads=options.workloads,
            rounds=options.round_count,
            threads=threads,
            quick=options.quick,
            pinned=measured.pinned,
            quota=machine.quota_and_file()[0],
            busy=options.busy,
        ),
        subjects=tuple(candidate.subject for candidate in chosen),
        runs=tuple(measured.runs),
        missing=tuple(measured.missing),
        remarks=tuple(remarks(measured.runs, pinned=measured.pinned)),
    )


def _check(chosen: Sequence[Candidate], options: BenchOptions) -> None:
    """Raise UsageError if these variants cannot be timed together, or not with these options."""
    ids = [candidate.variant.id for candidate in chosen]
    if same := {name for name in ids if ids.count(name) > 1}:
        raise UsageError(
            f"two variants are named {', '.join(same)}",
            fix="rename the folder of one stack.yaml, or `./invoke compare A B -- CMD`",
        )
    if "elementwise" in options.workloads and (on := [c for c in chosen if c.device]):
        raise UsageError(
            f"elementwise: {on[0].variant.id} computes on a device, and this has no figure for it",
            fix="name other workloads: --workload gemm,mlp,lenet,lstm",
        )


def remarks(runs: Sequence[Run], *, pinned: bool) -> list[str]:
    """Return what a reader must know about the figures."""
    sentences = results.noise_remarks([run.noise for run in runs])
    limit = machine.quota_and_file()[0]
    if limit is not None and limit < machine.affine_cores():
        sentences.append(f"a container's limit allows {limit:g} of {machine.affine_cores()} cores")
    if not pinned:
        sentences.append("the system did not allow pinning runs to processors")
    return sentences


def bench_all(
    workspace: Workspace,
    options: BenchOptions,
    machine_name: str = "",
    framework: str = "",
    make: Make | None = None,
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
            "threads": options.threads or str(machine.usable_cores()),
            # The first start compiles all C modules. The others find them, so they show how long
            # the rest of the compilation takes.
            "starts": LEAST_STARTS,
        }
    )
    by_framework: dict[str, list[Variant]] = {}
    for variant in select(workspace, framework=framework):
        if variant.device == "cpu":
            by_framework.setdefault(variant.framework.name, []).append(variant)
    print("ctrl-C stops it; the same command goes on with what is not timed", file=sys.stderr)
    failed, not_timed = list[str](), list[str]()
    for number, (name, variants) in enumerate(by_framework.items(), 1):
        untimed = _untimed(workspace, variants, options)
        if not untimed:
            print(f"{name}: timed already", file=sys.stderr)
            continue
        which = f"{number} of {len(by_framework)}: {plural(len(variants), 'variant')}"
        print(f"{name}, {which}", file=sys.stderr)
        chosen = prepare(workspace, variants, make=make)
        ids = [each.variant.id for each in chosen]
        try:
            # All are timed again where one is new: ratios are of the same rounds.
            if not set(untimed) & set(ids):
                raise StacksError(f"{name}: no variant is left to be timed")
            print(f"timing {', '.join(ids)}", file=sys.stderr)
            result = timed(workspace, chosen, options, machine_name=machine_name, campaign=True)
            path = store.write(workspace, result)
            print(f"stored in {workspace.shown(path)}", file=sys.stderr)
        except StacksError as error:
            show_error(error)
            failed.append(name)
        not_timed += _untimed(workspace, variants, options)
    if not_timed:
        print(f"not timed: {', '.join(not_timed)}: see the messages above", file=sys.stderr)
    if failed:
        raise StacksError(
            f"without a result: {', '.join(failed)}", fix="see the messages above for each variant"
        )
    next_step(NEXT)


def prepare(
    workspace: Workspace,
    variants: Sequence[Variant],
    refused: tuple[type[StacksError], ...] = (StacksError,),
    make: Make | None = None,
) -> list[Candidate]:
    """Lock, build and verify variants where that is missing; return those that pass.

    refused: errors that leave a variant out, which is named with the reason; others are raised.
    """
    built = candidates.candidates(workspace, variants)
    passed = {each.variant.id for each in built if each.verified}
    missing = [variant for variant in variants if variant.id not in passed]
    begun = time.monotonic()
    for number, variant in enumerate(missing):
        left = duration(seconds_left(begun, number, len(missing)))
        about = f", about {left} left" if number else ""
        print(f"building {variant.id}, {number + 1} of {len(missing)}{about}", file=sys.stderr)
        try:
            (make or make_and_verify)(workspace, variant)
        except refused as error:
            print(f"left out: {variant.id}", file=sys.stderr)
            show_error(error)
    return [each for each in candidates.candidates(workspace, variants) if each.verified]


def make_and_verify(workspace: Workspace, variant: Variant) -> None:
    """Build and verify a variant, after locking a stack without a current lock; StacksError."""
    if variant.file:
        try:
            lock.current(workspace, variant)
        except (StaleError, UsageError):  # It is of another stack.yaml, or there is none.
            build.relock(workspace, variant)
    prefix = build.make_environment(workspace, variant)
    verify.verify_variant(workspace, variant, prefix, quiet=True)


def _untimed(workspace: Workspace, variants: Iterable[Variant], options: BenchOptions) -> list[str]:
    """Return the variants without a whole result of this machine, these settings and their lock."""
    threads = options.thread_counts(machine.usable_cores(), machine.affine_cores())
    wanted = (options.workloads, options.round_count, threads, options.quick, options.busy)
    here, done = results.describe_machine([]), set[tuple[str, str]]()
    for result in (one.result for one in store.read_all(workspace)[0]):
        made = result.settings
        settings = (made.workloads, made.rounds, made.threads, made.quick, made.busy)
        if settings == wanted and here.same_hardware(result.machine):
            missing = {each.subject for each in result.missing}
            done |= {(each.id, each.lock) for each in result.subjects if each.id not in missing}

    def digest(variant: Variant) -> str:
        try:
            return lock.read(workspace, variant).sha256
        except StacksError:  # `prepare` names it, and leaves it out.
            return ""

    return [each.id for each in variants if (each.id, digest(each)) not in done]


def show_results(workspace: Workspace, machine_name: str = "") -> None:
    """Print the last result of the same variants and busy loops on each machine, or all of one.

    Files that cannot be read are warnings. Raises UsageError if there are no results.
    """
    stored, errors = store.read_all(workspace)
    machines = {one.path.parent.name for one in stored}
    if machine_name and machines and machine_name not in machines:
        raise unknown("machine", machine_name, machines)
    shown: dict[object, Result] = {}
    for one in stored:
        name, result = one.path.parent.name, one.result
        same = (name, result.settings.busy, *(subject.id for subject in result.subjects))
        if machine_name in ("", name):
            shown[one.path if machine_name else same] = result
    for result in shown.values():
        bench_rows.show(result)
        print()
    for error in errors:
        print(f"warning: {error}", file=sys.stderr)
    if not shown:
        raise UsageError("no results", fix="make some: ./invoke bench")
