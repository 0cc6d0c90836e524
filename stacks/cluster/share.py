"""A share of the jobs of `run --jobs`, on the machine of a worker."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from stacks.cluster import fingerprint
from stacks.cluster.messages import Answer, RemoteError, Run, Share
from stacks.core.disk import scratch
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.use.jobs import Job, run_each, shared_out
from stacks.environments.use.run import variables
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

# Bytes of a log that are sent; the last ones of a longer one.
MOST_LOG = 8 << 20


def run(workspace: Workspace, name: str, share: Share) -> Answer:
    """Build a variant if it is not, run the share's jobs in it, and return how each ended.

    The answer is a refusal if this machine lacks the folder, or has another stack.yaml. Raises
    StacksError if the environment cannot be made, or the program not be started.
    """
    try:
        variant = _checked(workspace, name, share)
    except StacksError as error:
        return Answer(error=RemoteError.of(error), refused=True)
    place = pipeline.make_environment(workspace, variant)
    # This process is for this order alone.
    os.chdir(share.folder)
    env = shared_out(variant, variables(place), share.at_once, len(share.jobs))
    runs = []
    with scratch() as logs:

        def record(job: Job, status: int, seconds: float) -> None:
            log = base64.b64encode(_end_of(job.log(logs)))
            runs.append(Run(job=job.number, status=status, seconds=seconds, log=log))

        run_each(share.jobs, share.at_once, logs, env, record)
    return Answer(runs=tuple(runs))


def _checked(workspace: Workspace, name: str, share: Share) -> Variant:
    if not Path(share.folder).is_dir():
        raise UsageError(
            f"{share.folder} is not on this machine",
            expected="the folder of your program, at the same path on each machine",
            fix="run it in a folder that they share, or copy it there",
        )
    variant = load_variant(workspace, name)
    fingerprint.check_stack(share.files, fingerprint.digests_of_stack(workspace, variant))
    return variant


def _end_of(log: Path) -> bytes:
    size = log.stat().st_size
    with log.open("rb") as file:
        if size <= MOST_LOG:
            return file.read()
        file.seek(size - MOST_LOG)
        return b"... %d bytes left out\n" % (size - MOST_LOG) + file.read(MOST_LOG)
