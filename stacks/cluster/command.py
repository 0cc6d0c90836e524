"""`./invoke build --cluster` and `./invoke bench --cluster`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stacks.bench import store
from stacks.bench import table as bench_table
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
from stacks.core.console import plural
from stacks.core.disk import write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.version import revision
from stacks.core.workspace import Workspace
from stacks.environments import suite
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant

MOST_THREADS = 1 << 16


@dataclass
class _Collected:
    """The answers of all workers."""

    outcomes: list[tuple[str, Outcome]] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    errors: list[StacksError] = field(default_factory=list)

    def add(self, worker: str, answer: Answer) -> None:
        """Add the answer of a worker, by its name."""
        self.outcomes += [(worker, outcome) for outcome in answer.outcomes]
        if answer.result:
            self.results[worker] = answer.result
        errors = [answer.error, *(o.error for o in answer.outcomes if o.status != NO_DEVICE)]
        self.errors += [error.to_error(worker) for error in errors if error]


def build(
    workspace: Workspace, address: str, variants: Sequence[Variant], *, full: bool = False
) -> None:
    """Build and verify each variant on one machine of a cluster; store the reports, print a table.

    Raises UsageError if there are no workers, ClusterError if a variant failed.
    """
    _refuse_stacks(variants)
    collected, end = _run(workspace, address, order_for(workspace, variants, full=full))
    cluster_table.print_outcomes(sorted(collected.outcomes, key=lambda pair: pair[1].variant))
    print(f"\nreports are in {workspace.shown(_reports(workspace))}", file=sys.stderr)
    end()


def bench(
    workspace: Workspace,
    address: str,
    variants: str = "",
    framework: str = "",
    *,
    options: BenchOptions,
) -> None:
    """Build, verify and time variants on each machine of a cluster; store and print the results.

    Raises UsageError for what cannot be timed or if there are no workers, ClusterError if a
    machine or a variant failed.
    """
    options.check()
    options.thread_counts(MOST_THREADS)
    names = split(variants)
    chosen = [load_variant(workspace, name, framework or None) for name in names] or [
        variant for variant in on_framework(workspace, framework or None) if variant.device == "cpu"
    ]
    if devices := [variant.id for variant in chosen if variant.device != "cpu"]:
        raise UsageError(
            f"{', '.join(devices)}: a cluster's machines are timed on their processors",
            fix="leave them out, and `./invoke bench --variants` on a machine with the device",
        )
    _refuse_stacks(chosen)
    collected, end = _run(workspace, address, order_for(workspace, chosen, timing=options))
    for name, result in collected.results.items():
        print(f"\n{name}")
        bench_table.show(result)
    if len(collected.results) > 1:
        print()
        cluster_table.print_side_by_side(collected.results)
    end()


def order_for(
    workspace: Workspace,
    variants: Sequence[Variant],
    *,
    full: bool = False,
    timing: BenchOptions | None = None,
) -> Order:
    """Return an order of this checkout, for any machine."""
    return Order(
        commit=revision()[0],
        files=fingerprint.digests(workspace),
        machine="",
        variants=tuple(variant.id for variant in variants),
        full=full,
        timing=timing,
    )


def _refuse_stacks(variants: Sequence[Variant]) -> None:
    if of_files := [variant for variant in variants if variant.file]:
        raise UsageError(
            f"{of_files[0].file}: a cluster builds and times this project's variants",
            fix=f"./invoke build {of_files[0].option}; or run it there: "
            "./invoke run --jobs N --cluster ADDRESS",
        )


def _reports(workspace: Workspace) -> Path:
    return workspace.cluster / "reports"


def _run(workspace: Workspace, address: str, order: Order) -> tuple[_Collected, Callable[[], None]]:
    """Run an order's jobs and store each answer; return them, and what to call after the tables."""
    session = open_session(workspace, order)
    collected = _Collected()

    def take(job: Job, worker: Worker, answer: Answer) -> None:
        answer, path = _saved(workspace, order, worker, answer)
        # A result without a variant that failed is in results/ too, but its job is repeated as a
        # whole: ratios are of variants that are timed in turn.
        if answer.complete:
            session.save(job.key, worker.name, answer)
        # Said only now: whoever interrupts after this line does not repeat a job without failures.
        if path:
            print_line(worker.name, f"stored in {workspace.shown(path)}")
        collected.add(worker.name, answer)

    with connect.connected(address, print_line) as cluster:
        jobs = _jobs(order, workers_of(cluster, address))
        failures = dispatch(cluster, _unfinished(jobs, session, collected), take)
    return collected, lambda: _finish(collected, failures, session)


def _jobs(order: Order, workers: Sequence[Worker]) -> list[Job]:
    """Return one job for each machine if it is a timing, else one for each variant."""
    if order.timing is None:
        return [
            Job(name, order.model_copy(update={"variants": (name,)})) for name in order.variants
        ]
    machines = {worker.machine: worker for worker in reversed(workers)}
    return [
        Job(f"the timing on {worker.custom_name or worker.name}", order, machine)
        for machine, worker in sorted(machines.items())
    ]


def _saved(
    workspace: Workspace, order: Order, worker: Worker, answer: Answer
) -> tuple[Answer, Path | None]:
    """Write the reports of an answer or its result.

    Return the answer with the result's new name, and the result's path if there is one.
    """
    if order.timing is None:
        folder = _reports(workspace) / slug(worker.custom_name or worker.name)
        for outcome in answer.outcomes:
            if outcome.report:
                path = folder / f"{outcome.variant}.json"
                write_atomically(path, json.dumps(outcome.report, indent=2, sort_keys=True) + "\n")
    if answer.result is None:
        return answer, None
    result = _with_machine_name(workspace, answer.result, worker)
    path = store.write(workspace, result)
    return answer.model_copy(update={"result": result}), path


def workers_of(cluster: Cluster, address: str) -> list[Worker]:
    """Return the workers, by address, and print their names; UsageError if there are none."""
    workers = cluster.workers()
    others = cluster.count() - len(workers)
    if not workers:
        raise UsageError(
            f"the scheduler at {address} has no worker of this project",
            expected="one on each machine, started in a checkout there",
            found=plural(others, "other worker") if others else "none",
            fix=f"on each machine: ./invoke worker {address}",
        )
    machines = {worker.machine for worker in workers.values()}
    names = ", ".join(sorted(worker.name for worker in workers.values()))
    ignored = f"; ignored: {plural(others, 'other worker')}" if others else ""
    print(f"{plural(len(machines), 'machine')}: {names}{ignored}", file=sys.stderr)
    return list(workers.values())


def _unfinished(jobs: Sequence[Job], session: ClusterSession, collected: _Collected) -> list[Job]:
    """Return the jobs that no earlier invocation has finished; collect the answers of the rest."""
    unfinished = []
    for job in jobs:
        stored = session.load(job.key)
        if stored:
            print_line(stored.worker, f"already finished {job.name}")
            collected.add(stored.worker, stored.answer)
        else:
            unfinished.append(job)
    return unfinished


def _with_machine_name(workspace: Workspace, result: Result, worker: Worker) -> Result:
    """Return a result with the name of its machine: the worker's custom name if it is free."""
    try:
        return store.named(workspace, result, worker.custom_name)
    except UsageError as error:
        # The timing took long: store it all the same, under another name.
        console.show_error(error)
        return store.named(workspace, result)


def _finish(
    collected: _Collected, failures: Sequence[StacksError], session: ClusterSession
) -> None:
    """Remove the session if nothing failed; else raise ClusterError.

    A missing device is no failure, but ends with the same exit status as without a cluster.
    """
    errors = [*collected.errors, *failures]
    for error in errors:
        console.show_error(error)
    if errors:
        raise ClusterError(
            f"{plural(len(errors), 'error')} on the cluster, see above",
            fix="repeat the command: it runs only what failed",
        )
    session.remove()
    missing = [(name, out) for name, out in collected.outcomes if out.status == NO_DEVICE]
    if missing:
        not_verified = ClusterError(
            "nothing failed, but not everything could be verified",
            found="\n".join(f"{outcome.variant}: no device on {name}" for name, outcome in missing),
            fix="start a worker on a machine with the device: see docs/guides/gpu.md",
        )
        not_verified.exit_code = suite.NO_DEVICE
        raise not_verified
