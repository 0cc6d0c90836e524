"""The one door to dask: its scheduler, the workers that it has, and what is sent to them."""

from __future__ import annotations

import asyncio
import logging
import operator
import pkgutil
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import distributed
from distributed.client import ClosedClientError, FuturesCancelledError
from distributed.comm.core import CommClosedError
from distributed.versions import VersionMismatchWarning

from stacks.cluster.programs import BOOTED, LABEL, NAMED
from stacks.core.errors import StacksError, UsageError

TIMEOUT = 15.0
RUN = "stacks.cluster.worker:run"


class ClusterError(StacksError):
    """The cluster did not do what it was asked for."""


@dataclass(frozen=True)
class Worker:
    """A worker: `machine` is the same for those of one machine, `named` what a person calls it."""

    address: str
    name: str
    machine: str
    named: str | None


@dataclass(frozen=True)
class Ended:
    """What became of a task: its text, or the error that it met; neither where it was lost."""

    text: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Task:
    """Something that was sent to a worker."""

    future: distributed.Future[str]

    @property
    def ended(self) -> Ended | None:
        """What became of it, None as long as it goes on."""
        if not self.future.done():
            return None
        if self.future.status == "finished":
            # A worker that is about to end has stopped it, and may still say so.
            return Ended(text=self.future.result() or None)
        error = self.future.exception() if self.future.status == "error" else None
        if error is None or isinstance(error, distributed.KilledWorker):
            return Ended()
        return Ended(error=f"{type(error).__name__}: {error}")


class Cluster:
    """A scheduler that answers."""

    def __init__(self, client: distributed.Client, tell: Callable[[str, str], None]) -> None:
        """`tell` is given what workers say: who and the line, from another thread."""
        self._client = client
        self._topic = f"{LABEL}-{uuid.uuid4().hex}"
        client.subscribe_topic(self._topic, lambda event: tell(event[1]["by"], event[1]["line"]))

    def workers(self) -> dict[str, Worker]:
        """Return the workers that `./invoke worker` has started, by address.

        Raises ClusterError where the scheduler has gone.
        """
        found = {address: _worker(address, info) for address, info in self._every().items()}
        return {address: worker for address, worker in found.items() if worker}

    def strangers(self) -> int:
        """Return how many workers are others'."""
        return len(self._every()) - len(self.workers())

    def _every(self) -> Mapping[str, Any]:
        self._check()
        try:
            told: Mapping[str, Any] = self._client.scheduler_info()["workers"]
        except (OSError, CommClosedError, ClosedClientError, asyncio.TimeoutError) as error:
            raise _gone(str(error)) from error
        # While it connects anew, a client tells what it was told before.
        self._check()
        return told

    def _check(self) -> None:
        if self._client.status != "running":
            raise _gone(f"the connection to it is {self._client.status}")

    def send(self, worker: Worker, text: str) -> Task:
        """Have one worker do what an order, in JSON, says."""
        # The scheduler loads what it is sent, and need not have this project: so it gets a name.
        # Not pure: the like of it that was sent to another worker must not do for this one.
        door = self._client.submit(pkgutil.resolve_name, RUN, workers=[worker.address], pure=False)
        call = operator.methodcaller("__call__", text, self._topic, worker.name)
        key = f"{LABEL}-{uuid.uuid4().hex}"
        return Task(self._client.submit(call, door, key=key, workers=[worker.address]))

    def wait(self, tasks: Sequence[Task], seconds: float) -> None:
        """Return when a task has ended, or after so many seconds."""
        # Those that were cancelled, for want of a scheduler for one, say so when they are asked.
        with suppress(TimeoutError, FuturesCancelledError):
            distributed.wait([task.future for task in tasks], seconds, "FIRST_COMPLETED")

    def stop(self, tasks: Sequence[Task]) -> None:
        """Have tasks stopped; those that have ended do not mind."""
        self._client.cancel([task.future for task in tasks])


def _gone(found: str) -> ClusterError:
    return ClusterError(
        "the scheduler went away",
        found=found,
        fix="start it again, and its workers; the same command then goes on where it was",
    )


@contextmanager
def connected(address: str, tell: Callable[[str, str], None]) -> Iterator[Cluster]:
    """Give the cluster of a scheduler, and leave it in the end; what still runs there stops.

    `tell` is given what workers say: who, and the line. TLS is as dask's own configuration has it.

    Raises UsageError where no scheduler of this version answers.
    """
    # What dask logs of a lost connection is told as an error; its warning of versions as well.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Where something else answers, a client would wait for ever.
        found = asyncio.run(asyncio.wait_for(_version_of(address), TIMEOUT))
    except (OSError, ValueError, TypeError, ImportError, asyncio.TimeoutError) as error:
        raise UsageError(
            f"--cluster {address}: no scheduler answers there",
            expected="the address that it prints when it starts, such as tcp://HOST:8786; with "
            "TLS tls://HOST:8786, and dask's own settings for the certificates",
            found=str(error) or f"no answer in {TIMEOUT:.0f} s",
            fix="`./invoke scheduler` starts one; docs/cluster.md tells of TLS",
        ) from error
    own = version("distributed")
    if found != own:
        raise UsageError(
            f"the scheduler at {address} is of another version of dask",
            expected=own,
            found=found,
            fix=f"start it by `./invoke scheduler`, or install dask and distributed {own} there",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)
        client = distributed.Client(address, timeout=TIMEOUT)
    try:
        yield Cluster(client, tell)
    finally:
        client.close(timeout=TIMEOUT)


async def _version_of(address: str) -> str:
    connection = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, connection_args=connection) as scheduler:
        told = await scheduler.versions()
    return str(told["packages"]["distributed"])


def _worker(address: str, info: Mapping[str, Any]) -> Worker | None:
    labels = [name for name in info["resources"] if name.startswith((NAMED, BOOTED))]
    if LABEL not in info["resources"] or len(labels) != 1 or info["status"] != "running":
        return None
    named = labels[0].removeprefix(NAMED) if labels[0].startswith(NAMED) else None
    return Worker(address, str(info["name"]), labels[0], named)
