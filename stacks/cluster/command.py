"""`./invoke build --cluster` and `./invoke bench --cluster`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stacks.bench import rows as bench_rows
from stacks.bench import store
from stacks.bench.intervals import number, scale
from stacks.bench.result import Result, slug
from stacks.bench.rows import Row, rows
from stacks.bench.schedule import BenchOptions, split
from stacks.cluster import connect
from stacks.cluster.connect import ClusterError, Worker
from stacks.cluster.dispatch import Job, dispatch, print_line
from stacks.cluster.messages import NO_DEVICE, Answer, ClusterSession, Order, Outcome, open_session
from stacks.core import console
from stacks.core.console import plural, print_table
from stacks.core.disk import write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import programs
from stacks.environments.care.verify import gemm
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant

MOST_THREADS = 1 << 16
DTYPES = ("float64", "float32")


@dataclass(frozen=True)
class _Collected:
    """The answers of all workers, and the errors of jobs without an answer."""

    session: ClusterSession
    answers: list[Answer] = field(default_factory=list)
    failures: list[StacksError] = field(default_factory=list)

    @property
    def outcomes(self) -> list[tuple[str, Outcome]]:
        """The outcome of each variant, after the name of its worker; by variant."""
        pairs = [(answer.worker, each) for answer in self.answers for each in answer.outcomes]
        return sorted(pairs, key=lambda pair: pair[1].variant)

    def finish(self) -> None:
        """Remove the session if nothing failed; else raise ClusterError.

        A missing device is no failure, but ends with the same exit status as without a cluster.
        """
        errors = [*(error for answer in self.answers for error in answer.errors), *self.failures]
        for error in errors:
            console.show_error(error)
        if errors:
            raise ClusterError(
                f"{plural(len(errors), 'error')} on the cluster, see above",
                fix="repeat the command: it runs only what failed",
            )
        self.session.remove()
        missing = [(name, each.variant) for name, each in self.outcomes if each.status == NO_DEVICE]
        if missing:
            not_verified = ClusterError(
                "nothing failed, but not everything could be verified",
                found="\n".join(f"{variant}: no device on {name}" for name, variant in missing),
                fix="start a worker on a machine with the device: see docs/guides/gpu.md",
            )
            not_verified.exit_code = programs.NO_DEVICE
            raise not_verified


def build(
    workspace: Workspace, address: str, variants: Sequence[Variant], *, full: bool = False
) -> None:
    """Build and verify each variant on one machine of a cluster; store the reports, print a table.

    Raises UsageError if there are no workers, ClusterError if a variant failed.
    """
    _refuse_stacks(variants)
    order = Order.of(workspace, [variant.id for variant in variants], full=full)
    collected = _run(workspace, address, order)
    _print_outcomes(collected.outcomes)
    print(f"\nreports are in {workspace.shown(_reports(workspace))}", file=sys.stderr)
    collected.finish()


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
    options.thread_counts(MOST_THREADS, MOST_THREADS)
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
    order = Order.of(workspace, [variant.id for variant in chosen], timing=options)
    collected = _run(workspace, address, order)
    results = {each.worker: each.result for each in collected.answers if each.result}
    for name, result in results.items():
        print(f"\n{name}")
        bench_rows.show(result)
    if len(results) > 1:
        print()
        print_side_by_side(results)
    collected.finish()


def _refuse_stacks(variants: Sequence[Variant]) -> None:
    if of_files := [variant for variant in variants if variant.file]:
        raise UsageError(
            f"{of_files[0].file}: a cluster builds and times this project's variants",
            fix=f"./invoke build {of_files[0].option}; or run it there: "
            "./invoke run --jobs N --cluster ADDRESS",
        )


def _reports(workspace: Workspace) -> Path:
    return workspace.cluster / "reports"


def _run(workspace: Workspace, address: str, order: Order) -> _Collected:
    """Run the jobs of an order that no earlier invocation has finished; store each answer."""
    session = open_session(workspace, order)
    collected = _Collected(session)

    def take(job: Job, worker: Worker, answer: Answer) -> None:
        answer, path = _saved(workspace, order, worker, answer)
        # A result without a variant that failed is in results/ too, but its job is repeated as a
        # whole: ratios are of variants that are timed in turn.
        if answer.complete:
            session.save(job.key, answer)
        # Said only now: whoever interrupts after this line does not repeat a job without failures.
        if path:
            print_line(worker.name, f"stored in {workspace.shown(path)}")
        collected.answers.append(answer)

    with connect.connected(address, print_line) as cluster:
        unfinished = []
        for job in _jobs(order, connect.workers_of(cluster, address)):
            if stored := session.load(job.key):
                print_line(stored.worker, f"already finished {job.name}")
                collected.answers.append(stored)
            else:
                unfinished.append(job)
        collected.failures.extend(dispatch(cluster, unfinished, take))
    return collected


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


def _with_machine_name(workspace: Workspace, result: Result, worker: Worker) -> Result:
    """Return a result with the name of its machine: the worker's custom name if it is free."""
    try:
        machine = store.named(workspace, result.machine, worker.custom_name or "")
    except UsageError as error:
        # The timing took long: store it all the same, under another name.
        console.show_error(error)
        machine = store.named(workspace, result.machine)
    return result.model_copy(update={"machine": machine})


def _print_outcomes(outcomes: Sequence[tuple[str, Outcome]]) -> None:
    """Print a line for each variant: its worker, its verification, the speed of Gemm."""
    lines = []
    for worker, outcome in outcomes:
        report = outcome.report
        speeds = [gemm(report, dtype) if report else "" for dtype in DTYPES]
        lines.append((outcome.variant, worker, outcome.status, *speeds))
    print_table(("variant", "worker", "verified"), DTYPES, lines)
    print("\nfloat64, float32: Gemm's GFLOP/s")


def print_side_by_side(results: Mapping[str, Result]) -> None:
    """Print the medians of several machines, each with its ratio to that machine's baseline.

    Figures of two machines are never divided by each other.
    """
    by_machine = {
        name: {(row.measure, row.subject): row for row in rows(result.runs, result.subjects)}
        for name, result in results.items()
    }
    every = [row for of_machine in by_machine.values() for row in of_machine.values()]
    names = bench_rows.display_names(every)
    lines = [
        (
            f"{measure.title}, {measure.unit}",
            names[subject],
            *(_cell(of_machine.get((measure, subject))) for of_machine in by_machine.values()),
        )
        for measure, subject in dict.fromkeys((row.measure, row.subject) for row in every)
    ]
    print_table(("", ""), by_machine, lines)
    print("\nin brackets: how many times as fast as the baseline on the same machine")


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    factor, unit = scale(row.summary.median, row.measure.unit)
    median = number(row.summary.median * factor) + ("" if unit == row.measure.unit else f" {unit}")
    return f"{median} ({row.ratio.value:.2f})" if row.ratio else median
