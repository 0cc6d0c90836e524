"""Jobs on the machines of a scheduler of dask: one at a time on each.

Dask's own scheduling knows workers, not machines; it cannot give a job that one machine refused to
another; and by default a task without a worker waits forever.
"""

import asyncio
import logging
import operator
import pkgutil
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import distributed
from distributed.client import ClosedClientError, FuturesCancelledError
from distributed.comm.core import CommClosedError
from distributed.versions import VersionMismatchWarning

from stacks.bench.schedule import seconds_left
from stacks.cluster.messages import Answer, Order, RemoteError
from stacks.cluster.programs import LABEL, NAME_PREFIX
from stacks.core.console import as_typed, duration, plural, print_line
from stacks.core.errors import StacksError, UsageError

# Seconds.
TIMEOUT, POLL = 15.0, 0.5
# Seconds without a worker: one that Slurm or Kubernetes restarts needs a while to come back.
PATIENCE = 60.0
TRIES = 3
RUN = "stacks.cluster.programs:run"
# Where the scheduler goes away while dask connects to it, dask cancels that twice, which asyncio
# refuses by a RuntimeError.
LOST = (OSError, CommClosedError, RuntimeError)
# How a command goes on when it is given again.
RESUMES = "build and bench go on, a run of jobs begins again (give it another folder for --logs)"
Take = Callable[["Job", "Worker", Answer], None]


class ClusterError(StacksError):
    """The cluster failed, or a job on it."""


@dataclass(frozen=True)
class Worker:
    """A worker; `machine` is the label of its machine."""

    address: str
    name: str
    machine: str

    @property
    def custom_name(self) -> str:
        """The name that a user gave the machine, empty without one."""
        return self.machine.removeprefix(NAME_PREFIX) if NAME_PREFIX in self.machine else ""


@dataclass
class Job:
    """An order for one machine, or for any if `machine` is None.

    lost: the machine of each worker that was lost with it.
    """

    name: str
    order: Order
    machine: str | None = None
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Task:
    """A job that was sent to a worker."""

    job: Job
    worker: Worker
    future: distributed.Future[str]

    def answer(self) -> Answer | None:
        """Return the answer of a task that has ended, None if its worker was lost."""
        if self.future.status == "finished":
            # Empty: a worker that is shutting down has stopped it.
            text = self.future.result()
            return Answer.read(text) if text else None
        error = self.future.exception() if self.future.status == "error" else None
        if error is None or isinstance(error, distributed.KilledWorker):
            return None
        failure = RemoteError(
            what="this worker cannot run the job",
            found=f"{type(error).__name__}: {error}",
            fix="start it by `./invoke worker ADDRESS` in a checkout of the same commit",
        )
        return Answer(error=failure, refused=True)


class Cluster:
    """A connection to a scheduler; what workers print is printed here, after their names."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._topic = f"{LABEL}-{uuid.uuid4().hex}"
        # dask adds the address of the worker to what it logs.
        client.subscribe_topic(
            self._topic, lambda event: print_line(event[1]["name"], event[1]["line"])
        )

    def workers(self) -> dict[str, Worker]:
        """Return this project's workers by address; ClusterError if the scheduler went away."""
        found = ""
        try:
            infos: Mapping[str, Any] = self._client.scheduler_info()["workers"]
            # A client that is reconnecting returns old information.
            if self._client.status != "running":
                found = f"the connection to it is {self._client.status}"
        except (*LOST, ClosedClientError, asyncio.TimeoutError) as error:
            found = str(error) or "no answer"
        if found:
            raise ClusterError(
                "the scheduler went away",
                found=found,
                fix=f"start it and its workers again, then repeat the command: {RESUMES}",
            )
        workers = {}
        for address, info in infos.items():
            labels = [name for name in info["resources"] if name.startswith(f"{LABEL}-")]
            if labels and info["status"] == "running":
                workers[address] = Worker(address, str(info["name"]), labels[0])
        return workers

    def send(self, job: Job, worker: Worker) -> Task:
        """Have a worker do a job."""
        # The scheduler unpickles what it gets and may lack this project: send the function's name.
        # Not pure: the same call on another worker has another result.
        run = self._client.submit(pkgutil.resolve_name, RUN, workers=[worker.address], pure=False)
        order = job.order.model_dump_json()
        call = operator.methodcaller("__call__", order, self._topic, worker.name)
        key = f"{LABEL}-{uuid.uuid4().hex}"
        future = self._client.submit(call, run, key=key, workers=[worker.address])
        return Task(job, worker, future)

    def wait(self, tasks: Sequence[Task], seconds: float) -> None:
        """Wait until one of the tasks has ended, at most so many seconds."""
        # Cancelled tasks, for example those of a lost scheduler, show it in their results.
        # Before Python 3.11 the timeout of asyncio is another class.
        with suppress(asyncio.TimeoutError, FuturesCancelledError):
            distributed.wait([task.future for task in tasks], seconds, "FIRST_COMPLETED")

    def stop(self, tasks: Sequence[Task]) -> None:
        """Stop tasks; those that have ended are ignored."""
        self._client.cancel([task.future for task in tasks])


@contextmanager
def connected(address: str) -> Iterator[tuple[Cluster, list[Worker]]]:
    """Give the cluster of a scheduler and its workers, whose names are printed.

    In the end disconnect, which stops all running tasks. TLS is set by dask's configuration. Raises
    UsageError if no scheduler of this version answers, or it has no workers.
    """
    # Lost connections and other versions are raised as errors here; dask would log them too.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # A client would wait forever for the answer of another kind of server.
        found = asyncio.run(asyncio.wait_for(_version_at(address), TIMEOUT))
    except (OSError, ValueError, TypeError, ImportError, asyncio.TimeoutError) as error:
        raise UsageError(
            f"--cluster {address}: no scheduler answers there",
            expected="the address that the scheduler prints at its start, such as "
            "tcp://HOST:8786, or tls://HOST:8786 with certificates in dask's configuration",
            found=str(error) or f"no answer in {TIMEOUT:.0f} s",
            fix="start one: ./invoke scheduler; for TLS see docs/guides/cluster.md",
        ) from error
    expected = version("distributed")
    if found != expected:
        raise UsageError(
            f"the scheduler at {address} runs another version of dask",
            expected=expected,
            found=found,
            fix=f"start it by `./invoke scheduler`, or install dask and distributed {expected} "
            "there",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)
        client = distributed.Client(address, timeout=TIMEOUT)
    try:
        cluster = Cluster(client)
        workers = list(cluster.workers().values())
        if not workers:
            raise UsageError(
                f"the scheduler at {address} has no worker of this project",
                expected="one on each machine, started in a checkout there",
                fix=f"on each machine: ./invoke worker {address}",
            )
        names = sorted(worker.name for worker in workers)
        print(f"{plural(len(names), 'machine')}: {', '.join(names)}", file=sys.stderr)
        yield cluster, workers
    finally:
        # The error that ends the work is the one to show.
        with suppress(*LOST):
            client.close(timeout=TIMEOUT)


async def _version_at(address: str) -> str:
    connection = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, connection_args=connection) as scheduler:
        versions = await scheduler.versions()
    return str(versions["packages"]["distributed"])


def dispatch(
    cluster: Cluster, jobs: Sequence[Job], take: Take, *, patience: float = PATIENCE
) -> list[StacksError]:
    """Run the jobs and pass each answer to `take`; return the errors of those without an answer.

    patience: seconds without a worker after which the waiting jobs fail. On an exception, such as
    ctrl-C, the workers stop.
    """
    waiting, running, failures = list(jobs), list[Task](), list[StacksError]()
    # Machines whose files differ.
    refused = set[str]()
    begun = since = time.monotonic()
    try:
        while waiting or running:
            workers = cluster.workers()
            for task in [t for t in running if t.worker.address not in workers or t.future.done()]:
                answer = task.answer()
                cluster.stop([task])
                running.remove(task)
                failures += _ended(task, answer, waiting, refused, take)
            busy = refused | {task.worker.machine for task in running}
            free = {one.machine: one for one in workers.values() if one.machine not in busy}
            for job in list(waiting):
                fitting = [machine for machine in free if job.machine in (None, machine)]
                if not fitting:
                    continue
                # Of another machine, if one was lost with it.
                worker = free.pop(min(fitting, key=job.lost.count))
                done, every = len(jobs) - len(waiting) - len(running), len(jobs)
                left = duration(seconds_left(begun, done, every))
                progress = f"; {done} of {every} done, about {left} left" if done else ""
                waiting.remove(job)
                print_line(worker.name, f"begins {job.name}{progress}")
                running.append(cluster.send(job, worker))
            if running:
                since = time.monotonic()
                cluster.wait(running, POLL)
            elif not waiting or (workers and not free) or time.monotonic() > since + patience:
                fix = f"start one by `./invoke worker ADDRESS`, then repeat the command: {RESUMES}"
                names = [job.name for job in waiting]
                failures += [ClusterError(f"{n}: no worker is left", fix=fix) for n in names]
                waiting.clear()
            else:
                time.sleep(POLL)
    finally:
        cluster.stop(running)
    return failures


def _ended(
    task: Task, answer: Answer | None, waiting: list[Job], refused: set[str], take: Take
) -> list[StacksError]:
    """Take an answer, or have the job wait again if there is none; return why it is given up."""
    job, worker = task.job, task.worker
    if answer is None:
        job.lost.append(worker.machine)
        if len(job.lost) == TRIES:
            what = f"{job.name}: its worker was lost {TRIES} times, last {worker.name}"
            fix = "read what that worker printed: it may have reached a limit of memory or of time"
            return [ClusterError(what, fix=fix)]
        print_line(worker.name, f"was lost; {job.name} will run again")
    else:
        answer = answer.model_copy(update={"worker": worker.name})
        if not answer.refused:
            take(job, worker, answer)
            return []
        refused.add(worker.machine)
        if job.machine:
            return answer.errors
        print_line(worker.name, as_typed(f"is left out:\n{answer.errors[0]}"))
    waiting.append(job)
    return []
