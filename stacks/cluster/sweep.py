"""`./invoke run --jobs N --cluster ADDRESS`: a program over many arguments, on many machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from stacks.cluster import connect, dispatch, fingerprint
from stacks.cluster.command import order_for, workers_of
from stacks.cluster.connect import ClusterError, Worker
from stacks.cluster.dispatch import print_line
from stacks.cluster.messages import Answer, Share
from stacks.core import console
from stacks.core.disk import write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import ended_like_by_interrupt
from stacks.core.workspace import Workspace
from stacks.environments.use.jobs import Job, check_number, recorded
from stacks.variants.variant import Variant

# So that a machine whose share ends early gets another.
SHARES_EACH = 4


def sweep(
    workspace: Workspace,
    address: str,
    variant: Variant,
    jobs: Sequence[Job],
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
    order = order_for(workspace, [variant]).model_copy(update={"variants": (name,)})
    files = fingerprint.digests_of_stack(workspace, variant)
    by_number = {job.number: job for job in jobs}
    errors: list[StacksError] = []
    with ended_like_by_interrupt(), connect.connected(address, print_line) as cluster:
        machines = {worker.machine for worker in workers_of(cluster, address)}
        # Only now: it removes the logs of a former sweep.
        with recorded(folder, len(jobs)) as record:

            def take(_: dispatch.Job, worker: Worker, answer: Answer) -> None:
                for run in answer.runs:
                    if job := by_number.pop(run.job, None):
                        write_atomically(job.log(folder), run.log)
                        record(job, run.status, run.seconds)
                if answer.error:
                    errors.append(answer.error.to_error(worker.name))

            orders = []
            for part in shares(jobs, at_once, len(machines)):
                share = Share(folder=here, at_once=at_once, jobs=tuple(part), files=files)
                label = f"jobs {part[0].number} to {part[-1].number}"
                orders.append(dispatch.Job(label, order.model_copy(update={"share": share})))
            errors += dispatch.dispatch(cluster, orders, take)
            for error in errors:
                console.show_error(error)
            if by_number:
                raise ClusterError(
                    f"{len(by_number)} of {len(jobs)} jobs were not run, see above",
                    found="jobs " + ", ".join(str(number) for number in by_number),
                )


def shares(jobs: Sequence[Job], at_once: int, machines: int) -> list[Sequence[Job]]:
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
