"""`./invoke worker` and `./invoke scheduler`: dask's own programs, as this project needs them."""

from __future__ import annotations

import importlib
import os
import re
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from stacks.bench.result import NAME
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.venv import CLUSTER_LOCK, prepare_tools

# A worker's label: a resource, as dask calls it. One job takes all of it.
LABEL = "theano-stacks"
# What follows tells machines apart: a name that a person gave, or the kernel's own.
NAMED, BOOTED = f"{LABEL}-machine-", f"{LABEL}-boot-"
BOOT = Path("/proc/sys/kernel/random/boot_id")


def worker(address: str, name: str, options: Sequence[str]) -> None:
    """Become a worker, until it is stopped or its scheduler goes away.

    `options` go to `dask worker`. Raises UsageError for a name that is none.
    """
    words = worker_words(address, name, options)
    prepare()
    _run(words)


def scheduler(options: Sequence[str]) -> None:
    """Become a scheduler, until it is stopped; `options` go to `dask scheduler`."""
    prepare()
    _run(["distributed.cli.dask_scheduler", *options])


def worker_words(address: str, name: str, options: Sequence[str] = ()) -> list[str]:
    """Return the module, and its arguments, that is a worker."""
    if address.startswith("-"):
        raise UsageError(
            f"{address}: not the address of a scheduler",
            expected="such as tcp://HOST:8786",
            fix="`./invoke --help worker` tells of the options",
        )
    if name and not re.fullmatch(NAME, name):
        raise UsageError(
            f"--name {name}: not the name of a machine",
            expected="small letters, digits, dots and hyphens",
        )
    return [
        "distributed.cli.dask_worker",
        address,
        # One thing at a time; and what is timed are other processes, not dask's.
        *("--nworkers", "1", "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"),
        *("--name", f"{name or socket.gethostname()}-{os.getpid()}"),
        *("--resources", f"{LABEL}=1 {label(name)}=1"),
        *options,
    ]


def label(name: str, boot: Path = BOOT) -> str:
    """Return what a machine is told by: containers on one machine have one kernel."""
    if name:
        return NAMED + name
    return BOOTED + (boot.read_text().strip() if boot.is_file() else socket.gethostname())


def _run(words: Sequence[str]) -> None:
    """Replace this process: signals, of Slurm and of Kubernetes, then reach dask itself."""
    sys.stdout.flush()
    sys.stderr.flush()
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    os.execve(sys.executable, [sys.executable, "-m", *words], env)  # noqa: S606


def prepare() -> None:
    """Have what is in requirements-cluster.lock in the running venv."""
    prepare_tools(Path(sys.prefix), CLUSTER_LOCK)
    importlib.invalidate_caches()
