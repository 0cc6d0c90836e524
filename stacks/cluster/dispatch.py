"""Jobs on machines: one at a time on each; a job whose worker is lost runs again elsewhere.

`sweep` is `./invoke run --jobs N --cluster ADDRESS`: a user's jobs, in shares.

Dask's own scheduling knows workers, not machines; it cannot give a job that one machine refused to
another; and by default a task without a worker waits forever.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stacks.cluster import connect, messages
from stacks.cluster.connect import RESUMES, Cluster, ClusterError, Task, Worker
from stacks.cluster.messages import Answer, Order, Share
from stacks.core import console
from stacks.core.console import as_typed, duration
from stacks.core.disk import write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import ended_like_by_interrupt
from stacks.core.workspace import Workspace
from stacks.environments.use.jobs import Job as UserJob
from stacks.environments.use.jobs import check_number, recorded
from stacks.variants.variant import Variant

TRIES = 3
# Seconds.
POLL = 0.5
# Seconds. A worker that its nanny, Slurm or Kubernetes restarts needs a while to come back.
PATIENCE = 60.0
# So that a machine whose share ends early gets another.
SHARES_EACH = 4

Take = Callable[["Job", Worker, Answer], None]


@dataclass(frozen=True)
class Job:
    """An order for one machine, or for any if `machine` is None."""

    name: str
    order: Order
    machine: str | None = None

    @property
    def key(self) -> str:
        """The job's name in a session, the same in each invocation and for each worker."""
        return self.machine or self.name


@dataclass(frozen=True)
class _Running:
    job: Job
    worker: Worker
    task: Task


@dataclass
class _State:
    waiting: list[Job]
    running: list[_Running] = field(default_factory=list)
    failures: list[StacksError] = field(default_factory=list)
    # {job: number of lost workers by machine}
    lost: dict[str, Counter[str]] = field(default_factory=dict)
    # Machines whose checkout differs.
    refused: set[str] = field(default_factory=set)


def dispatch(
    cluster: Cluster, jobs: Sequence[Job], take: Take, *, patience: float = PATIENCE
) -> list[StacksError]:
    """Run the jobs and pass each answer to `take`; return the errors of those without an answer.

    patience: seconds without a worker after which the waiting jobs fail. On an exception, such as
    ctrl-C, the workers stop.
    """
    state = _State(list(jobs))
    begun = since = time.monotonic()
    try:
        while state.waiting or state.running:
            present = cluster.workers()
            _collect(cluster, state, present, take)
            for job, worker in _next(state, present):
                print_line(worker.name, f"begins {job.name}{_progress(state, jobs, begun)}")
                order = job.order.model_copy(update={"machine": worker.machine})
                task = cluster.send(worker, order.model_dump_json())
                state.waiting.remove(job)
                state.running.append(_Running(job, worker, task))
            if state.running:
                since = time.monotonic()
                cluster.wait([one.task for one in state.running], POLL)
            elif state.waiting:
                all_refused = present and {w.machine for w in present.values()} <= state.refused
                if not all_refused and time.monotonic() < since + patience:
                    time.sleep(POLL)
                    continue
                fix = f"start one by `./invoke worker ADDRESS`, then repeat the command: {RESUMES}"
                state.failures += [
                    ClusterError(f"{job.name}: no worker is left", fix=fix) for job in state.waiting
                ]
                state.waiting.clear()
    finally:
        cluster.stop([one.task for one in state.running])
    return state.failures


def _progress(state: _State, jobs: Sequence[Job], begun: float) -> str:
    """Return how many jobs are done and how long the others take, empty before the first."""
    done = len(jobs) - len(state.waiting) - len(state.running)
    left = (time.monotonic() - begun) / max(done, 1) * (len(jobs) - done)
    return f"; {done} of {len(jobs)} done, about {duration(left)} left" if done else ""


def _collect(cluster: Cluster, state: _State, present: Mapping[str, Worker], take: Take) -> None:
    """Handle the tasks that have ended, and those whose worker has disappeared."""
    for one in list(state.running):
        if one.task.has_ended:
            answer = one.task.answer()
        elif one.worker.address not in present:
            cluster.stop([one.task])
            answer = None
        else:
            continue
        state.running.remove(one)
        if answer is None:
            _retry(one, state)
            continue
        answer = answer.model_copy(update={"worker": one.worker.name})
        if not answer.refused:
            take(one.job, one.worker, answer)
            continue
        state.refused.add(one.worker.machine)
        if one.job.machine:
            state.failures += answer.errors
        else:
            print_line(one.worker.name, as_typed(f"is left out:\n{answer.errors[0]}"))
            state.waiting.append(one.job)


def _retry(one: _Running, state: _State) -> None:
    """Run a job whose worker was lost again, or give it up after the last try."""
    lost = state.lost.setdefault(one.job.key, Counter())
    lost[one.worker.machine] += 1
    if sum(lost.values()) < TRIES:
        print_line(one.worker.name, f"was lost; {one.job.name} will run again")
        state.waiting.append(one.job)
        return
    error = ClusterError(
        f"{one.job.name}: its worker was lost {TRIES} times, last {one.worker.name}",
        fix="read what that worker printed: it may have reached a limit of memory or of time",
    )
    state.failures.append(error)


def _next(state: _State, present: Mapping[str, Worker]) -> list[tuple[Job, Worker]]:
    """Return the jobs to start now, each with its worker; at most one for each machine."""
    # Sorted: two clients then choose the same worker of a machine, which takes turns.
    workers = [present[address] for address in sorted(present)]
    taken = {one.worker.machine for one in state.running} | state.refused
    pairs = []
    for job in state.waiting:
        free = [w for w in workers if w.machine not in taken and job.machine in (None, w.machine)]
        if free:
            lost = state.lost.get(job.key, Counter())
            worker = min(free, key=lambda one: lost[one.machine])
            taken.add(worker.machine)
            pairs.append((job, worker))
    return pairs


def print_line(worker: str, line: str) -> None:
    """Print a line of a worker, after its name."""
    print(f"{worker}: {line}", file=sys.stderr, flush=True)


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
    _check_text(here, "the name of this folder")
    for job in jobs:
        _check_text("".join(job.words), f"a word of the command of job {job.number}")
    name = str(variant.file.absolute()) if variant.file else variant.id
    order = Order.of(workspace, [name])
    files = messages.digests_of_stack(workspace, variant)
    by_number = {job.number: job for job in jobs}
    errors: list[StacksError] = []
    with ended_like_by_interrupt(), connect.connected(address, print_line) as cluster:
        machines = {worker.machine for worker in connect.workers_of(cluster, address)}
        # Only now: it removes the logs of a former sweep.
        with recorded(folder, len(jobs)) as record:

            def take(_job: Job, _worker: Worker, answer: Answer) -> None:
                for run in answer.runs:
                    if job := by_number.pop(run.job, None):
                        write_atomically(job.log(folder), run.log)
                        record(job, run.status, run.seconds)
                errors.extend(answer.errors)

            orders = []
            for part in shares(jobs, at_once, len(machines)):
                share = Share(folder=here, at_once=at_once, jobs=tuple(part), files=files)
                label = f"jobs {part[0].number} to {part[-1].number}"
                orders.append(Job(label, order.model_copy(update={"share": share})))
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


def _check_text(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{name} is not UTF-8",
            expected="text, which can be sent to another machine",
            found=ascii(text),
        ) from error
