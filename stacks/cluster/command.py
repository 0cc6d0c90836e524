"""`./invoke build`, `bench` and `run --jobs` with `--cluster ADDRESS`."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from stacks.bench import rows as bench_rows
from stacks.bench import store
from stacks.bench.result import slug
from stacks.bench.schedule import BenchOptions, split
from stacks.cluster.dispatch import ClusterError, Job, Worker, connected, dispatch
from stacks.cluster.messages import NO_DEVICE, Answer, Order, Outcome, Share
from stacks.core import console
from stacks.core.console import plural, print_line, print_table
from stacks.core.disk import write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import programs
from stacks.environments.care.listing import gemm
from stacks.environments.use.jobs import Job as UserJob
from stacks.environments.use.jobs import check_number, recorded
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant

MOST_THREADS = 1 << 16
DTYPES = ("float64", "float32")
# So that a machine whose share ends early gets another.
SHARES_EACH = 4


@dataclass(frozen=True)
class Session:
    """The stored answers to an order: the same command after an interrupt repeats none of them."""

    folder: Path

    @classmethod
    def of(cls, workspace: Workspace, order: Order) -> Session:
        """Return the session of an order, which covers all machines."""
        content = json.dumps(order.model_dump(mode="json"), sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()
        return cls(workspace.cluster / f"session-{digest[:16]}")

    def load(self, job: Job) -> Answer | None:
        """Return the answer to a job, None if there is none that can be read."""
        try:
            return Answer.model_validate_json(self._file(job).read_bytes())
        except (OSError, ValidationError):
            return None

    def save(self, job: Job, answer: Answer) -> None:
        """Store an answer."""
        write_atomically(self._file(job), answer.model_dump_json(by_alias=True))

    def remove(self) -> None:
        """Remove all answers: the next invocation starts from the beginning."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, job: Job) -> Path:
        # The same in each invocation and for each worker.
        key = job.machine or job.name
        return self.folder / f"{slug(key)}-{hashlib.sha256(key.encode()).hexdigest()[:8]}.json"


def build(
    workspace: Workspace, address: str, variants: Sequence[Variant], *, full: bool = False
) -> None:
    """Build and verify each variant on one machine of a cluster; store the reports, print a table.

    Raises UsageError if there are no workers, ClusterError if a variant failed.
    """

    def show(answers: Sequence[Answer]) -> None:
        lines = [
            (each.variant, worker, each.status, *(gemm(each.report or {}, d) for d in DTYPES))
            for worker, each in _outcomes(answers)
        ]
        print_table(("variant", "worker", "verified"), DTYPES, lines)
        print("\nfloat64, float32: Gemm's GFLOP/s")
        print(f"\nreports are in {workspace.shown(_reports(workspace))}", file=sys.stderr)

    run(workspace, address, Order.of(workspace, variants, full=full), show)


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

    def show(answers: Sequence[Answer]) -> None:
        # Figures of two machines are never divided by each other.
        for answer in answers:
            if answer.result:
                print(f"\n{answer.worker}")
                bench_rows.show(answer.result)

    run(workspace, address, Order.of(workspace, chosen, timing=options), show)


def run(
    workspace: Workspace, address: str, order: Order, show: Callable[[Sequence[Answer]], None]
) -> None:
    """Run the jobs of an order that no earlier invocation has finished; store and show all answers.

    Raises ClusterError if something failed, or, with another exit status, if a device is missing.
    """
    session, answers = Session.of(workspace, order), list[Answer]()

    def take(job: Job, worker: Worker, answer: Answer) -> None:
        answer, path = _stored(workspace, worker, answer)
        # A result without a variant that failed is in results/ too, but its job is repeated as a
        # whole: ratios are of variants that are timed in turn.
        if not answer.errors:
            session.save(job, answer)
        # Said only now: whoever interrupts after this line does not repeat a job without failures.
        if path:
            print_line(worker.name, f"stored in {workspace.shown(path)}")
        answers.append(answer)

    with connected(address) as (cluster, workers):
        unfinished = []
        for job in _jobs(order, workers):
            if stored := session.load(job):
                print_line(stored.worker, f"already finished {job.name}")
                answers.append(stored)
            else:
                unfinished.append(job)
        failures = dispatch(cluster, unfinished, take)
    show(answers)
    errors = [error for answer in answers for error in answer.errors] + failures
    for error in errors:
        console.show_error(error)
    if errors:
        raise ClusterError(
            f"{plural(len(errors), 'error')} on the cluster, see above",
            fix="repeat the command: it runs only what failed",
        )
    session.remove()
    missing = [(name, one.variant) for name, one in _outcomes(answers) if one.status == NO_DEVICE]
    if missing:
        not_verified = ClusterError(
            "nothing failed, but not everything could be verified",
            found="\n".join(f"{variant}: no device on {name}" for name, variant in missing),
            fix="start a worker on a machine with the device: see docs/guides/gpu.md",
        )
        not_verified.exit_code = programs.NO_DEVICE
        raise not_verified


def _jobs(order: Order, workers: Sequence[Worker]) -> list[Job]:
    """Return one job for each machine if it is a timing, else one for each variant."""
    if order.timing is None:
        return [
            Job(name, order.model_copy(update={"variants": (name,)})) for name in order.variants
        ]
    machines = {worker.machine: worker for worker in workers}
    return [
        Job(f"the timing on {worker.custom_name or worker.name}", order, machine)
        for machine, worker in sorted(machines.items())
    ]


def _outcomes(answers: Sequence[Answer]) -> list[tuple[str, Outcome]]:
    """Return the outcome of each variant, after the name of its worker; by variant."""
    pairs = [(answer.worker, each) for answer in answers for each in answer.outcomes]
    return sorted(pairs, key=lambda pair: pair[1].variant)


def _reports(workspace: Workspace) -> Path:
    return workspace.cluster / "reports"


def _stored(workspace: Workspace, worker: Worker, answer: Answer) -> tuple[Answer, Path | None]:
    """Write an answer's reports and its result, which gets the name of its machine.

    Return the answer with that, and the result's path if there is one.
    """
    folder = _reports(workspace) / slug(worker.custom_name or worker.name)
    for outcome in answer.outcomes:
        if outcome.report:
            text = json.dumps(outcome.report, indent=2, sort_keys=True) + "\n"
            write_atomically(folder / f"{outcome.variant}.json", text)
    if answer.result is None:
        return answer, None
    try:
        machine = store.named(workspace, answer.result.machine, worker.custom_name)
    except UsageError as error:
        # The timing took long: store it all the same, under another name.
        console.show_error(error)
        machine = store.named(workspace, answer.result.machine)
    result = answer.result.model_copy(update={"machine": machine})
    return answer.model_copy(update={"result": result}), store.write(workspace, result)


def sweep(
    workspace: Workspace,
    address: str,
    variant: Variant,
    jobs: Sequence[UserJob],
    at_once: int,
    folder: Path,
) -> None:
    """Run all jobs on the machines of a cluster, `at_once` at a time on each, as run_jobs does.

    They run in the current folder, which each machine has at the same path. Raises UsageError if
    there are no workers, ClusterError if jobs were not run, JobsError if any failed.
    """
    check_number(at_once)
    here = str(Path.cwd())
    for text in (here, *(word for job in jobs for word in job.words)):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(
                "only UTF-8 can be sent to another machine", found=ascii(text), fix="rename it"
            ) from None
    order = Order.of(workspace, [variant])
    by_number = {job.number: job for job in jobs}
    errors: list[StacksError] = []

    def take(_job: Job, _worker: Worker, answer: Answer) -> None:
        for ended in answer.runs:
            if job := by_number.pop(ended.job, None):
                write_atomically(job.log(folder), ended.log)
                record(job, ended.status, ended.seconds)
        errors.extend(answer.errors)

    with (
        connected(address) as (cluster, workers),
        # Only now: it removes the logs of a former sweep.
        recorded(folder, len(jobs)) as record,
    ):
        parts = shares(jobs, at_once, len(workers))
        every = [Share(folder=here, at_once=at_once, jobs=tuple(part)) for part in parts]
        orders = [
            Job(
                f"jobs {one.jobs[0].number} to {one.jobs[-1].number}",
                order.model_copy(update={"share": one}),
            )
            for one in every
        ]
        errors += dispatch(cluster, orders, take)
        for error in errors:
            console.show_error(error)
        if by_number:
            raise ClusterError(
                f"{len(by_number)} of {len(jobs)} jobs were not run, see above",
                found="jobs " + ", ".join(str(number) for number in by_number),
            )


def shares(jobs: Sequence[UserJob], at_once: int, machines: int) -> list[Sequence[UserJob]]:
    """Return the jobs in parts that keep a machine busy, several for each machine."""
    size = max(at_once, math.ceil(len(jobs) / (machines * SHARES_EACH)))
    return [jobs[start : start + size] for start in range(0, len(jobs), size)]
