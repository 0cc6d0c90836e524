"""`./invoke build --cluster` and `./invoke bench --cluster`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from stacks.bench import command as local
from stacks.bench import store
from stacks.bench import table as bench_table
from stacks.bench.candidates import refuse_devices
from stacks.bench.machine import slug
from stacks.bench.options import BenchOptions, split
from stacks.bench.result import Result
from stacks.cluster import connect, fingerprint
from stacks.cluster import table as cluster_table
from stacks.cluster.connect import Cluster, ClusterError, Worker
from stacks.cluster.dispatch import Job, dispatch, print_line
from stacks.cluster.messages import NO_DEVICE, Answer, Order, Outcome
from stacks.cluster.resume import ClusterSession, open_session
from stacks.core import console
from stacks.core.disk import write_whole
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import verify as verification
from stacks.variants.variant import Variant, on_framework

MOST_THREADS = 1 << 16


@dataclass
class _Found:
    """What has come so far."""

    outcomes: list[tuple[str, Outcome]] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    errors: list[StacksError] = field(default_factory=list)

    def take(self, name: str, answer: Answer) -> None:
        """Add an answer of the worker `name`."""
        self.outcomes += [(name, outcome) for outcome in answer.outcomes]
        if answer.result:
            self.results[name] = answer.result
        told = [answer.error, *(o.error for o in answer.outcomes if o.status != NO_DEVICE)]
        self.errors += [error.error(name) for error in told if error]


def build(
    workspace: Workspace, address: str, variants: Sequence[Variant], *, full: bool = False
) -> None:
    """Build and verify each variant on one of a cluster's machines; keep and show the reports.

    Raises UsageError where there are no workers, ClusterError where a variant failed.
    """
    order = _order(workspace, [variant.id for variant in variants], full=full)
    jobs = [Job(name, order.model_copy(update={"variants": (name,)})) for name in order.variants]
    kept = open_session(workspace, order)
    found = _Found()

    def keep(job: Job, by: Worker, answer: Answer) -> None:
        for outcome in answer.outcomes:
            if outcome.report:
                path = (
                    (workspace.cluster / "reports")
                    / slug(by.named or by.name)
                    / f"{outcome.variant}.json"
                )
                write_whole(path, json.dumps(outcome.report, indent=2, sort_keys=True) + "\n")
        if answer.whole:
            kept.keep(job.key, by.name, answer)
        found.take(by.name, answer)

    with connect.connected(address, print_line) as cluster:
        _workers(cluster, address)
        failures = dispatch(cluster, _left(jobs, kept, found), keep)
    cluster_table.outcomes(sorted(found.outcomes, key=lambda one: one[1].variant))
    print(
        f"\nreports are in {(workspace.cluster / 'reports').relative_to(workspace.root)}",
        file=sys.stderr,
    )
    _end(found, failures, kept)


def bench(
    workspace: Workspace,
    address: str,
    variants: str = "",
    framework: str = "",
    *,
    asked: BenchOptions,
) -> None:
    """Build, verify and time variants on each of a cluster's machines; keep and show the results.

    Raises UsageError for what cannot be timed or where there are no workers, ClusterError where a
    machine or a variant failed.
    """
    asked.check()
    local.counts(asked.threads, MOST_THREADS)
    names = split(variants)
    chosen = [local.named(workspace, name, framework) for name in names] or [
        variant for variant in on_framework(workspace, framework or None) if variant.device == "cpu"
    ]
    refuse_devices(chosen)
    order = _order(workspace, [variant.id for variant in chosen], timing=asked)
    kept = open_session(workspace, order)
    found = _Found()

    def keep(job: Job, by: Worker, answer: Answer) -> None:
        if answer.result:
            result = _named(workspace, answer.result, by)
            path = store.write(workspace, result)
            print_line(by.name, f"kept in {path.relative_to(workspace.root)}")
            answer = answer.model_copy(update={"result": result})
            kept.keep(job.key, by.name, answer)
        found.take(by.name, answer)

    with connect.connected(address, print_line) as cluster:
        machines: dict[str, Worker] = {}
        for one in _workers(cluster, address).values():
            machines.setdefault(one.machine, one)
        jobs = [
            Job(f"the timing on {by.named or by.name}", order, machine)
            for machine, by in sorted(machines.items())
        ]
        failures = dispatch(cluster, _left(jobs, kept, found), keep)
    for name, result in found.results.items():
        print(f"\n{name}")
        bench_table.show(result)
    if len(found.results) > 1:
        print()
        cluster_table.beside(found.results)
    _end(found, failures, kept)


def _order(
    workspace: Workspace,
    names: Sequence[str],
    *,
    full: bool = False,
    timing: BenchOptions | None = None,
) -> Order:
    return Order(
        commit=local.revision()[0],
        files=fingerprint.files(workspace),
        machine="",
        variants=tuple(names),
        full=full,
        timing=timing,
    )


def _workers(cluster: Cluster, address: str) -> dict[str, Worker]:
    """Return the workers and tell who they are; UsageError where there are none."""
    present = cluster.workers()
    others = cluster.strangers()
    if not present:
        raise UsageError(
            f"the scheduler at {address} has no worker of this project",
            expected="one on each machine, started in a checkout there",
            found=f"{others} of others" if others else "none",
            fix=f"on each machine: ./invoke worker {address}",
        )
    machines = {worker.machine for worker in present.values()}
    told = f"{len(machines)} machine{'s' if len(machines) > 1 else ''}: "
    told += ", ".join(sorted(worker.name for worker in present.values()))
    print(
        told + (f"; {others} workers of others are left alone" if others else ""), file=sys.stderr
    )
    return present


def _left(jobs: Sequence[Job], kept: ClusterSession, found: _Found) -> list[Job]:
    """Return the jobs that an earlier invocation has not finished; what it has is taken."""
    left = []
    for job in jobs:
        before = kept.kept(job.key)
        if before:
            print_line(before.worker, f"has finished {job.name} before")
            found.take(before.worker, before.answer)
        else:
            left.append(job)
    return left


def _named(workspace: Workspace, result: Result, by: Worker) -> Result:
    """Return a result under the name of its machine; the one that was asked for, if it is free."""
    try:
        name = store.name_for(workspace, result.machine, by.named)
    except UsageError as error:
        # What took an hour to time is kept, under another name.
        console.show_error(error)
        name = store.name_for(workspace, result.machine, None)
    machine = result.machine.model_copy(update={"name": name})
    return result.model_copy(update={"machine": machine})


def _end(found: _Found, failures: Sequence[StacksError], kept: ClusterSession) -> None:
    """Tell what failed, by a ClusterError; where nothing did, the session is over."""
    errors = [*found.errors, *failures]
    if not errors:
        kept.finish()
        _tell_missing_devices(found)
        return
    for error in errors:
        console.show_error(error)
    raise ClusterError(
        f"{len(errors)} thing{'s' if len(errors) > 1 else ''} failed, told above",
        fix="the same command does again what failed, and nothing else",
    )


def _tell_missing_devices(found: _Found) -> None:
    """Raise ClusterError with the status that a missing device has everywhere, where one is."""
    missing = [(name, outcome) for name, outcome in found.outcomes if outcome.status == NO_DEVICE]
    if missing:
        error = ClusterError(
            "nothing failed, but not everything could be verified",
            found="\n".join(f"{outcome.variant}: no device on {name}" for name, outcome in missing),
            fix="start a worker on a machine with the device; docs/gpu.md says what it takes",
        )
        error.exit_code = verification.NO_DEVICE
        raise error
