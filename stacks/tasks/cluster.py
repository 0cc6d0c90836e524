"""Tasks that start the programs of a cluster."""

from __future__ import annotations

from invoke.context import Context

from stacks.tasks.task import remainder, task

INSECURE_ADDRESS = (
    "listen where others can reach it, without TLS: anyone there can run programs as you"
)


@task(
    "worker tcp://127.0.0.1:8786",
    "worker tls://HOST:8786 --name big -- --tls-ca-file ca.pem",
    positional=["address"],
    help={
        "address": "address of the scheduler, such as tcp://HOST:8786",
        "name": "name of this machine in progress and results (default: random); workers of the "
        "same name take turns",
        "insecure_address": INSECURE_ADDRESS,
    },
    takes_command=True,
)
def worker(context: Context, address: str, name: str = "", insecure_address: bool = False) -> None:
    """Work for a dask scheduler; words after -- go to `dask worker`."""
    from stacks.cluster import programs

    programs.worker(address, name, remainder(), insecure=insecure_address)


@task(
    "scheduler",
    "scheduler -- --port 9000",
    help={"insecure_address": INSECURE_ADDRESS},
    takes_command=True,
)
def scheduler(context: Context, insecure_address: bool = False) -> None:
    """Run a dask scheduler on loopback; words after -- go to `dask scheduler`."""
    from stacks.cluster import programs

    programs.scheduler(remainder(), insecure=insecure_address)
