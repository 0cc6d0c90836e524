"""`./invoke bench` and `./invoke results`."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Sequence

from stacks.bench import machine, rounds, store
from stacks.bench import rows as bench_rows
from stacks.bench.candidates import Candidate, choose_candidates
from stacks.bench.result import Result, Run, Settings
from stacks.bench.schedule import BenchOptions, Plan, split
from stacks.core import cores
from stacks.core.disk import INSTALLED
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace, revision

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
    """Time variants in turn, store the result and print it; raises what `timed` raises."""
    options.check()
    candidates = choose_candidates(workspace, split(variants), framework)
    result = timed(workspace, candidates, options, machine_name=machine_name)
    path = store.write(workspace, result)
    bench_rows.show(result)
    print(f"stored in {workspace.shown(path)}", file=sys.stderr)


def timed(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    options: BenchOptions,
    *,
    machine_name: str = "",
    campaign: bool = False,
) -> Result:
    """Time variants in turn and return the result.

    campaign: as of a Plan. Raises UsageError for what cannot be timed, another StacksError if a
    process fails.
    """
    options.check()
    _check(candidates, options)
    threads = options.thread_counts(cores.affine())
    here = machine.describe([each.report for each in candidates if each.report])
    # The name of its folder: its devices are in it.
    devices = {each.device.name.partition(",")[0] for each in candidates if each.device}
    name = machine.slug(" ".join([here.name, *sorted(devices)])) if devices else here.name
    here = store.named(workspace, here.model_copy(update={"name": name}), machine_name)
    began = datetime.datetime.now(datetime.timezone.utc)
    start = time.monotonic()
    # Before the rounds: files may change while they run.
    commit, changed = revision()
    measured = rounds.run(Plan(tuple(candidates), options, threads, campaign))
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
            quota=cores.quota(),
            busy=options.busy,
        ),
        subjects=tuple(candidate.subject for candidate in candidates),
        runs=tuple(measured.runs),
        missing=tuple(measured.missing),
        remarks=tuple(remarks(measured.runs, pinned=measured.pinned)),
    )


def _check(candidates: Sequence[Candidate], options: BenchOptions) -> None:
    """Raise UsageError if these variants cannot be timed together, or not with these options."""
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


def remarks(runs: Sequence[Run], *, pinned: bool) -> list[str]:
    """Return what a reader must know about the figures."""
    sentences = machine.remarks([run.noise for run in runs])
    limit = cores.quota()
    if limit is not None and limit < cores.affine():
        sentences.append(f"a container's limit allows {limit:g} of {cores.affine()} cores")
    if not pinned:
        sentences.append("the system did not allow pinning runs to processors")
    return sentences


def show_results(workspace: Workspace, machine_name: str = "") -> None:
    """Print the last result of the same variants and busy loops on each machine, or all of one.

    Files that cannot be read are warnings. Raises UsageError if there are no results.
    """
    stored, errors = store.read_all(workspace)
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
