"""The function that dask calls in a worker: it runs an order in a separate process.

Dask cannot stop a function that runs, but a process can be stopped: so nothing continues after the
client has gone or the worker was killed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import dask.config
from dask.typing import Key
from distributed import Worker, get_worker

from stacks.cluster.messages import Answer, RemoteError
from stacks.cluster.programs import SET, module_command
from stacks.core.disk import REPOSITORY
from stacks.core.process import CommandError
from stacks.core.supervised import run_supervised

# A nanny sets it, besides the variables of its configuration.
ADDED = {"PYTHONHASHSEED": "6640"}


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


def _is_wanted(worker: Worker, key: Key) -> bool:
    """Say whether a client still waits for a task, and its worker is not shutting down."""
    task = worker.state.tasks.get(key)
    return worker.status.name == "running" and task is not None and task.state == "executing"
