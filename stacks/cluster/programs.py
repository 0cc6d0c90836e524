"""`./invoke worker` and `./invoke scheduler`: dask's programs with this project's options."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.bench.result import NAME
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.venv import CLUSTER_LOCK, prepare_tools

# A worker's label: a resource in dask's terms.
LABEL = "theano-stacks"
# A second resource names the machine: by a user's name, or by the kernel's boot ID.
NAME_PREFIX, BOOT_PREFIX = f"{LABEL}-machine-", f"{LABEL}-boot-"
# A variable with the names of those that the user has set: those of dask are removed for jobs.
SET = "THEANO_STACKS_SET"
# Runs a module as `python -m` does, but takes no module from PYTHONPATH or the working folder.
MODULE = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); del sys.argv[:2]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def worker(address: str, name: str, options: Sequence[str], *, insecure: bool = False) -> None:
    """Become a worker, until it is stopped or its scheduler goes away.

    options: for `dask worker`. insecure: others may reach it without TLS. Raises UsageError for an
    invalid name, and for an address that others can reach.
    """
    # An invalid name is an error before the tools are installed.
    worker_command(address, name)
    prepare()
    from stacks.cluster import addresses

    listening = addresses.of_worker(address, options, insecure=insecure)
    _run(worker_command(address, name, [*listening.words, *options]), listening.variables)


def scheduler(options: Sequence[str], *, insecure: bool = False) -> None:
    """Become a scheduler, until it is stopped; `options` go to `dask scheduler`.

    insecure: others may reach it without TLS. Raises UsageError for an address that others can
    reach.
    """
    prepare()
    from stacks.cluster import addresses

    listening = addresses.of_scheduler(options, insecure=insecure)
    _run(["distributed.cli.dask_scheduler", *listening.words, *options], listening.variables)


def worker_command(address: str, name: str, options: Sequence[str] = ()) -> list[str]:
    """Return the module of a worker and its arguments."""
    if address.startswith("-"):
        raise UsageError(
            f"{address}: not the address of a scheduler",
            expected="such as tcp://HOST:8786",
            fix="see the options: ./invoke worker --help",
        )
    if name and not re.fullmatch(NAME, name):
        raise UsageError(
            f"--name {name}: not the name of a machine",
            expected="small letters, digits, dots and hyphens",
        )
    return [
        "distributed.cli.dask_worker",
        address,
        # One job at a time. Jobs are separate processes, so dask cannot limit their memory.
        *("--nworkers", "1", "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"),
        *("--name", f"{name or socket.gethostname()}-{os.getpid()}"),
        *("--resources", f"{LABEL}=1 {machine_label(name)}=1"),
        *options,
    ]


def machine_label(name: str, boot_id: Path = BOOT_ID) -> str:
    """Return the label of this machine; containers on one machine have one kernel."""
    if name:
        return NAME_PREFIX + name
    return BOOT_PREFIX + (
        boot_id.read_text().strip() if boot_id.is_file() else socket.gethostname()
    )


def _run(command: Sequence[str], variables: Mapping[str, str]) -> None:
    """Replace this process, so that signals of Slurm and Kubernetes reach dask itself."""
    sys.stdout.flush()
    sys.stderr.flush()
    env = {**os.environ, SET: " ".join(os.environ), **variables}
    os.execve(sys.executable, module_command(*command), env)  # noqa: S606


def module_command(*words: str) -> list[str]:
    """Return the command line that runs a module, of this project or of a tool, with arguments."""
    return [sys.executable, "-I", "-c", MODULE, str(REPOSITORY), *words]


def prepare() -> None:
    """Install the packages of requirements-cluster.lock into the running venv."""
    prepare_tools(Path(sys.prefix), CLUSTER_LOCK)
