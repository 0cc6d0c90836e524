"""`./invoke bench` and `./invoke results`."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Sequence

from stacks.bench import machine, noise, rounds, schedule, store
from stacks.bench import table as bench_table
from stacks.bench.candidates import Candidate, require_candidates, verified_candidates
from stacks.bench.options import BenchOptions, split
from stacks.bench.result import Machine, Result, Run, Settings
from stacks.core import cores
from stacks.core.disk import INSTALLED
from stacks.core.errors import UsageError
from stacks.core.version import revision
from stacks.core.workspace import Workspace
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import SCAN_FIX

# Seconds. A larger difference means that the clock was set during the run.
JUMP = 2.0

# What a user does with a result: the page of timings belongs to a checkout.
NEXT = "./invoke results" if INSTALLED else "./invoke publish"


def bench(
    workspace: Workspace,
    variants: str = "",
    framework: str = "",
    *,
    options: BenchOptions,
    machine_name: str = "",
) -> None:
    """Time variants in turn, store the result and print it.

    Raises UsageError for what cannot be timed, another StacksError if a process fails; nothing is
    stored then.
    """
    result = timed(workspace, variants, framework, options=options, machine_name=machine_name)
    path = store.write(workspace, result)
    bench_table.show(result)
    print(f"stored in {workspace.shown(path)}", file=sys.stderr)


def timed(
    workspace: Workspace,
    variants: str = "",
    framework: str = "",
    *,
    options: BenchOptions,
    machine_name: str = "",
    campaign: bool = False,
) -> Result:
    """Time variants in turn and return the result; raises what `bench` raises.

    campaign: of many variants. A program that fails has no figure, and the others are timed; the
    first of several starts compiles all at once; with --quick no program is compiled by numba.
    """
    options.check()
    candidates = tuple(choose_candidates(workspace, split(variants), framework))
    ids = [candidate.variant.id for candidate in candidates]
    if same := {name for name in ids if ids.count(name) > 1}:
        raise UsageError(
            f"two variants are named {', '.join(same)}",
            fix="rename the folder of one stack.yaml, or `./invoke compare A B -- CMD`",
        )
    if "elementwise" in options.workloads and (on := [c for c in candidates if c.device]):
        raise UsageError(
            f"elementwise: {on[0].variant.id} computes on a device, and this has no figure for it",
            fix="name other workloads: --workload gemm,mlp,lenet,lstm",
        )
    threads = thread_counts(options.threads, cores.affine())
    if options.fix_scan:
        _check_fixes(workspace, candidates)
    here = _machine(workspace, candidates, machine_name)
    began = datetime.datetime.now(datetime.timezone.utc)
    start = time.monotonic()
    # Before the rounds: files may change while they run.
    commit, changed = revision()
    measured = rounds.run(schedule.Plan(candidates, options, threads, campaign))
    seconds = time.monotonic() - start
    clock_seconds = (datetime.datetime.now(datetime.timezone.utc) - began).total_seconds()
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
            quota=cores.quota(),
            busy=options.busy,
        ),
        subjects=tuple(candidate.subject for candidate in candidates),
        runs=tuple(measured.runs),
        missing=tuple(measured.missing),
        remarks=tuple(remarks(measured.runs, measured.pinned, clock_seconds - seconds, options)),
    )


def _machine(workspace: Workspace, candidates: Sequence[Candidate], requested: str) -> Machine:
    """Return this machine, with the name of its folder: its devices are in it."""
    here = machine.describe([each.report for each in candidates if each.report])
    devices = {each.device.name.partition(",")[0] for each in candidates if each.device}
    if devices:
        name = machine.slug(" ".join([here.name, *sorted(devices)]))
        here = here.model_copy(update={"name": name})
    name = store.name_for(workspace, here, requested or None)
    return here.model_copy(update={"name": name})


def _check_fixes(workspace: Workspace, candidates: Sequence[Candidate]) -> None:
    """Raise UsageError if --fix-scan does not support a framework."""
    frameworks = dict.fromkeys(c.variant.framework.name for c in candidates)
    supported = {
        c.variant.framework.name for c in candidates if SCAN_FIX in c.variant.framework.accelerator
    }
    if others := [name for name in frameworks if name not in supported]:
        raise UsageError(
            f"--fix-scan: theano_stacks_scan does not support {', '.join(others)}",
            expected="Theano 0.8.2, Theano 1.0.5, PyTensor",
            fix="leave the option out, or these variants",
        )


def choose_candidates(
    workspace: Workspace, names: Sequence[str], framework: str
) -> list[Candidate]:
    """Return the variants to time: the named ones, by default all that are built and verified.

    names: NAME or FRAMEWORK/NAME. Raises UsageError if one cannot be timed.
    """
    if names:
        named = (load_variant(workspace, name, framework or None) for name in names)
        variants = {str(variant.file or variant.id): variant for variant in named}
        return require_candidates(workspace, list(variants.values()))
    verified = verified_candidates(workspace, on_framework(workspace, framework or None))
    if not verified:
        raise UsageError(
            "nothing to time: no variant is built and verified",
            fix="./invoke build --variant NAME for each that you want to time: see ./invoke list",
        )
    return verified


def thread_counts(text: str, most: int) -> tuple[int, ...]:
    """Return numbers of threads from `1,2,4` or `1-4`, ascending; by default 1, 2, 4 ... `most`."""
    if not text:
        return tuple(sorted({1, *(2**n for n in range(1, 12) if 2**n < most), most}))
    numbers: set[int] = set()
    for word in split(text):
        low, dash, high = word.partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise UsageError(
                f"--threads {text}: not a list of numbers", expected="for example 1,2,4 or 1-4"
            )
        numbers |= set(range(int(low), int(high or low) + 1))
    if not numbers or min(numbers) < 1 or max(numbers) > most:
        raise UsageError(
            f"--threads {text}: outside the usable processors", expected=f"1 to {most}"
        )
    return tuple(sorted(numbers))


FIX_SCAN = (
    "all programs import theano_stacks_scan first, also the baseline's, whose users lack this "
    "module"
)
TOGETHER = "all variants compiled at the same time, which made their compilation slower"


def remarks(
    runs: Sequence[Run], pinned: bool, jump: float, options: BenchOptions | None = None
) -> list[str]:
    """Return what a reader must know about the figures.

    jump: seconds by which the system's clock was changed during the run.
    """
    sentences = noise.remarks([run.noise for run in runs])
    limit = cores.quota()
    if limit is not None and limit < cores.affine():
        sentences.append(f"a container's limit allows {limit:g} of {cores.affine()} cores")
    if options and options.fix_scan:
        sentences.append(FIX_SCAN)
    if options and options.together:
        sentences.append(TOGETHER)
    if not pinned:
        sentences.append("the system did not allow pinning runs to processors")
    if abs(jump) > JUMP:
        sentences.append(
            f"the system's clock was changed by {jump:+.0f} s during the run; durations are by "
            "another clock, which did not change"
        )
    return sentences


def show_results(workspace: Workspace, machine_name: str = "") -> None:
    """Print the last result of the same variants and busy loops on each machine, or all of one.

    Files that cannot be read are warnings. Raises UsageError if there are no results.
    """
    stored, errors = store.read_all(workspace)
    chosen = [one for one in stored if machine_name in ("", one.path.parent.name)]
    if not machine_name:
        last = {
            (
                one.path.parent.name,
                one.result.settings.busy,
                *(s.id for s in one.result.subjects),
            ): one
            for one in chosen
        }
        chosen = list(last.values())
    for one in chosen:
        bench_table.show(one.result)
        print()
    for message in [*store.misplaced(stored).values(), *map(str, errors)]:
        print(f"warning: {message}", file=sys.stderr)
    if not chosen:
        raise UsageError("no results", fix="make some: ./invoke bench")
