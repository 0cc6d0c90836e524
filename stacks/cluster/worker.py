"""What dask calls in a worker: it has an order done by a process of its own, and stops that.

Dask cannot stop what it has called; a process can be stopped. So nothing goes on where the one who
asked has gone, or where this worker has been killed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import dask.config
from dask.typing import Key
from distributed import Worker, get_worker

from stacks.cluster.messages import Answer, RemoteError
from stacks.core.disk import REPOSITORY
from stacks.core.process import CommandError, overseen

# What a nanny sets besides what its configuration tells of.
ADDED = {"PYTHONHASHSEED": "6640"}


def run(order: str, topic: str, name: str) -> str:
    """Do an order (JSON) and return its answer (JSON), nothing where it was stopped.

    Each line that is told on the way goes to `topic`, with `name`, which is this worker's.
    """
    worker = get_worker()
    key = worker.get_current_task()
    try:
        answer = overseen(
            [sys.executable, "-m", "stacks.cluster.job"],
            order,
            lambda line: worker.log_event(topic, {"by": name, "line": line}),
            lambda: _wanted(worker, key),
            cwd=REPOSITORY,
            env=environment(os.environ),
        )
    except CommandError as error:
        answer = Answer(error=RemoteError.of(error)).model_dump_json(by_alias=True)
    return answer or ""


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return a worker's environment without what dask and `./invoke worker` have put there.

    That is one thread for every BLAS, and one order of hashes for every process: what is verified
    and timed would be another thing.
    """
    added = {**dask.config.get("distributed.nanny.pre-spawn-environ"), **ADDED}
    return {
        name: value
        for name, value in given.items()
        if name != "PYTHONPATH" and not (name in added and value == str(added[name]))
    }


def _wanted(worker: Worker, key: Key) -> bool:
    """Say whether anyone still waits for a task, and its worker goes on."""
    task = worker.state.tasks.get(key)
    return worker.status.name == "running" and task is not None and task.state == "executing"
