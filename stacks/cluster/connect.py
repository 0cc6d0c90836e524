"""All calls to dask: the scheduler, its workers, and the tasks that are sent to them.

A task runs its order in a separate process: dask cannot stop a function, but a process can be
stopped, so nothing continues after the client has gone or the worker was killed.
"""

from __future__ import annotations

import asyncio
import logging
import operator
import os
import pkgutil
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import dask.config
import distributed
from dask.typing import Key
from distributed import get_worker
from distributed.client import ClosedClientError, FuturesCancelledError
from distributed.comm.core import CommClosedError
from distributed.versions import VersionMismatchWarning
from pydantic import ValidationError

from stacks.cluster.messages import Answer, RemoteError
from stacks.cluster.programs import BOOT_PREFIX, LABEL, NAME_PREFIX, SET, module_command
from stacks.core.console import plural
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import CommandError
from stacks.core.supervised import run_supervised

# Seconds.
TIMEOUT = 15.0
RUN = "stacks.cluster.connect:run"
# Where the scheduler goes away while dask connects to it, dask cancels that twice, which asyncio
# refuses by a RuntimeError.
LOST = (OSError, CommClosedError, RuntimeError)
# A nanny sets it, besides the variables of its configuration.
ADDED = {"PYTHONHASHSEED": "6640"}


class ClusterError(StacksError):
    """The cluster failed, or a job on it."""


@dataclass(frozen=True)
class Worker:
    """A worker; `machine` is the same for the workers of one machine, `custom_name` a user's."""

    address: str
    name: str
    machine: str
    custom_name: str | None


@dataclass(frozen=True)
class Task:
    """A task that was sent to a worker."""

    future: distributed.Future[str]

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more."""
        return bool(self.future.done())

    def answer(self) -> Answer | None:
        """Return the answer of a task that has ended, None if its worker was lost."""
        if self.future.status == "finished":
            # Empty: a worker that is shutting down has stopped it.
            text = self.future.result()
            try:
                return Answer.model_validate_json(text) if text else None
            except ValidationError as invalid:
                first = str(invalid).splitlines()[0]
                return Answer(error=RemoteError(what="its answer cannot be read", found=first))
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
    """A connection to a scheduler."""

    def __init__(self, client: distributed.Client, on_line: Callable[[str, str], None]) -> None:
        """Call `on_line` in another thread with each line of a worker: its name and the line."""
        self._client = client
        self._topic = f"{LABEL}-{uuid.uuid4().hex}"
        client.subscribe_topic(self._topic, lambda event: on_line(event[1]["by"], event[1]["line"]))

    def workers(self) -> dict[str, Worker]:
        """Return {address: worker} for the workers that `./invoke worker` has started.

        Raises ClusterError if the scheduler went away.
        """
        workers = {address: _worker(address, info) for address, info in self._infos().items()}
        return {address: worker for address, worker in workers.items() if worker}

    def count(self) -> int:
        """Return the number of all workers, also those of other projects."""
        return len(self._infos())

    def _infos(self) -> Mapping[str, Any]:
        try:
            infos: Mapping[str, Any] = self._client.scheduler_info()["workers"]
        except (*LOST, ClosedClientError, asyncio.TimeoutError) as error:
            raise _disconnected(str(error)) from error
        # A client that is reconnecting returns old information.
        if self._client.status != "running":
            raise _disconnected(f"the connection to it is {self._client.status}")
        return infos

    def send(self, worker: Worker, order: str) -> Task:
        """Have one worker run an order (JSON)."""
        # The scheduler unpickles what it gets and may lack this project: send the function's name.
        # Not pure: the same call on another worker has another result.
        run = self._client.submit(pkgutil.resolve_name, RUN, workers=[worker.address], pure=False)
        call = operator.methodcaller("__call__", order, self._topic, worker.name)
        key = f"{LABEL}-{uuid.uuid4().hex}"
        return Task(self._client.submit(call, run, key=key, workers=[worker.address]))

    def wait(self, tasks: Sequence[Task], seconds: float) -> None:
        """Wait until one of the tasks has ended, at most so many seconds."""
        # Cancelled tasks, for example those of a lost scheduler, show it in their results.
        with suppress(TimeoutError, FuturesCancelledError):
            distributed.wait([task.future for task in tasks], seconds, "FIRST_COMPLETED")

    def stop(self, tasks: Sequence[Task]) -> None:
        """Stop tasks; those that have ended are ignored."""
        self._client.cancel([task.future for task in tasks])


# How a command goes on when it is given again.
RESUMES = "build and bench go on, a run of jobs begins again (give it another folder for --logs)"


def _disconnected(found: str) -> ClusterError:
    return ClusterError(
        "the scheduler went away",
        found=found,
        fix=f"start it and its workers again, then repeat the command: {RESUMES}",
    )


@contextmanager
def connected(address: str, on_line: Callable[[str, str], None]) -> Iterator[Cluster]:
    """Give the cluster of a scheduler; in the end disconnect, which stops all running tasks.

    on_line: called with each line of a worker, see `Cluster`. TLS is set by dask's configuration.

    Raises UsageError if no scheduler of this version answers.
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
        yield Cluster(client, on_line)
    finally:
        # The error that ends the work is the one to show.
        with suppress(*LOST):
            client.close(timeout=TIMEOUT)


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


async def _version_at(address: str) -> str:
    connection = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, connection_args=connection) as scheduler:
        versions = await scheduler.versions()
    return str(versions["packages"]["distributed"])


def _worker(address: str, info: Mapping[str, Any]) -> Worker | None:
    labels = [name for name in info["resources"] if name.startswith((NAME_PREFIX, BOOT_PREFIX))]
    if LABEL not in info["resources"] or len(labels) != 1 or info["status"] != "running":
        return None
    [label] = labels
    name = label.removeprefix(NAME_PREFIX) if label.startswith(NAME_PREFIX) else None
    return Worker(address, str(info["name"]), label, name)


def run(order: str, topic: str, name: str) -> str:
    """Run an order (JSON) and return its answer (JSON), empty if it was stopped.

    Each line of progress goes to `topic` with `name`, the name of this worker.
    """
    worker = get_worker()
    key = worker.get_current_task()
    try:
        answer = run_supervised(
            module_command("stacks.cluster.job"),
            order,
            lambda line: worker.log_event(topic, {"by": name, "line": line}),
            lambda: _is_wanted(worker, key),
            cwd=REPOSITORY,
            env=clean_environment(os.environ),
        )
    except CommandError as error:
        answer = Answer(error=RemoteError.of(error)).model_dump_json(by_alias=True)
    return answer or ""


def clean_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return a worker's variables without those that dask and `./invoke worker` have set.

    They limit every BLAS to one thread and fix the order of hashes, so a verification or a timing
    under them would differ from one without a cluster.
    """
    added = {**dask.config.get("distributed.nanny.pre-spawn-environ"), **ADDED}
    for name in variables.get(SET, "").split():
        added.pop(name, None)
    return {
        name: value
        for name, value in variables.items()
        if name != SET and not (name in added and value == str(added[name]))
    }


def _is_wanted(worker: distributed.Worker, key: Key) -> bool:
    """Say whether a client still waits for a task, and its worker is not shutting down."""
    task = worker.state.tasks.get(key)
    return worker.status.name == "running" and task is not None and task.state == "executing"
