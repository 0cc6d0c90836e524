"""Jobs over machines: one at a time on each, and again elsewhere where a worker is lost."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from stacks.cluster.connect import Cluster, ClusterError, Ended, Task, Worker
from stacks.cluster.messages import Answer, Order, RemoteError
from stacks.core.errors import StacksError

TRIES = 3
POLL = 0.5
# A worker that is started again, by its nanny, Slurm or Kubernetes, needs a while to come back.
PATIENCE = 60.0

Keep = Callable[["Job", Worker, Answer], None]


@dataclass(frozen=True)
class Job:
    """An order for one machine, or for any where `machine` is left out."""

    name: str
    order: Order
    machine: str | None = None

    @property
    def key(self) -> str:
        """What is the same when it is asked for again, by whichever worker it is done."""
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
    # By job: how often its worker was lost on which machine.
    lost: dict[str, Counter[str]] = field(default_factory=dict)
    # Machines whose checkout is another one.
    refused: set[str] = field(default_factory=set)


def dispatch(
    cluster: Cluster, jobs: Sequence[Job], keep: Keep, *, patience: float = PATIENCE
) -> list[StacksError]:
    """Have the jobs done and give each answer to `keep`; return why others could not be done.

    Where this is interrupted, the workers stop. Jobs for which there has been no worker for
    `patience` seconds are given up.
    """
    state = _State(list(jobs))
    since = time.monotonic()
    try:
        while state.waiting or state.running:
            present = cluster.workers()
            _collect(cluster, state, present, keep)
            for job, worker in _next(state, present):
                print_line(worker.name, f"begins {job.name}")
                order = job.order.model_copy(update={"machine": worker.machine})
                task = cluster.send(worker, order.model_dump_json())
                state.waiting.remove(job)
                state.running.append(_Running(job, worker, task))
            if state.running:
                since = time.monotonic()
                cluster.wait([one.task for one in state.running], POLL)
            elif state.waiting and not _may_come(state, present, since + patience):
                state.failures += [_nobody(job) for job in state.waiting]
                state.waiting.clear()
            elif state.waiting:
                time.sleep(POLL)
    finally:
        cluster.stop([one.task for one in state.running])
    return state.failures


def _collect(cluster: Cluster, state: _State, present: Mapping[str, Worker], keep: Keep) -> None:
    """Take what has ended, and what cannot end any more, out of what is running."""
    for one in list(state.running):
        ended = one.task.ended
        if ended is None and one.worker.address not in present:
            cluster.stop([one.task])
            ended = Ended()
        if ended:
            state.running.remove(one)
            _take(one, ended, state, keep)


def _take(one: _Running, ended: Ended, state: _State, keep: Keep) -> None:
    answer = _answer(ended)
    if answer is None:
        _again(one, state)
    elif answer.refused and answer.error:
        state.refused.add(one.worker.machine)
        error = answer.error.error(one.worker.name)
        if one.job.machine:
            state.failures.append(error)
        else:
            print_line(one.worker.name, f"is left out:\n{error}")
            state.waiting.append(one.job)
    else:
        keep(one.job, one.worker, answer)


def _answer(ended: Ended) -> Answer | None:
    """Return the answer of a task that ended, None where its worker was lost."""
    if ended.error:
        told = RemoteError(
            what="this worker cannot do it",
            found=ended.error,
            fix="start it by `./invoke worker ADDRESS`, in a checkout of the same commit",
        )
        return Answer(error=told, refused=True)
    if ended.text is None:
        return None
    try:
        return Answer.model_validate_json(ended.text)
    except ValidationError as error:
        told = RemoteError(what="what it answered cannot be read", found=str(error).splitlines()[0])
        return Answer(error=told)


def _again(one: _Running, state: _State) -> None:
    """Have a job whose worker was lost done again, unless it takes its workers with it."""
    lost = state.lost.setdefault(one.job.key, Counter())
    lost[one.worker.machine] += 1
    if sum(lost.values()) < TRIES:
        print_line(one.worker.name, f"was lost; {one.job.name} will be done again")
        state.waiting.append(one.job)
        return
    error = ClusterError(
        f"{one.job.name}: its worker was lost {TRIES} times, at last {one.worker.name}",
        fix="see what that worker printed: was it short of memory, or of time?",
    )
    state.failures.append(error)


def _next(state: _State, present: Mapping[str, Worker]) -> list[tuple[Job, Worker]]:
    """Return which jobs begin now, each with its worker; a machine gets one at a time."""
    # By address: two clients then choose the same of a machine's workers, and it takes turns.
    free = [present[address] for address in sorted(present)]
    taken = {one.worker.machine for one in state.running} | state.refused
    begin = []
    for job in state.waiting:
        fit = [w for w in free if w.machine not in taken and job.machine in (None, w.machine)]
        if fit:
            lost = state.lost.get(job.key, Counter())
            worker = min(fit, key=lambda one: lost[one.machine])
            taken.add(worker.machine)
            begin.append((job, worker))
    return begin


def _may_come(state: _State, present: Mapping[str, Worker], until: float) -> bool:
    """Say whether to go on waiting for a worker: not where all that there are have refused."""
    refused = {worker.machine for worker in present.values()} <= state.refused
    return time.monotonic() < until and not (present and refused)


def _nobody(job: Job) -> ClusterError:
    return ClusterError(
        f"{job.name}: no worker is left for it",
        fix="start one by `./invoke worker ADDRESS`; the same command then goes on where it was",
    )


def print_line(worker: str, line: str) -> None:
    """Print what a worker does."""
    print(f"{worker}: {line}", file=sys.stderr, flush=True)
