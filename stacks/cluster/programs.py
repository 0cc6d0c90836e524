"""`./invoke worker` and `./invoke scheduler`: dask's programs with this project's options.

They listen on loopback, or elsewhere with TLS: whoever reaches one of them without TLS can run
programs there. A worker runs each order in a separate process: dask cannot stop a function, but a
process can be stopped, so nothing continues after the client has gone or the worker was killed.
"""

import ipaddress
import os
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import distributed
from click.core import ParameterSource
from distributed.cli import dask_scheduler, dask_worker
from distributed.comm.addressing import parse_address, parse_host_port

from stacks.bench.result import NAME
from stacks.cluster.job import run_supervised
from stacks.cluster.messages import Answer, RemoteError
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.process import CommandError

LABEL = "theano-stacks"
# A worker's label, a resource in dask's terms, names its machine: by a user's name, or by the
# kernel's boot ID.
NAME_PREFIX, BOOT_PREFIX = f"{LABEL}-machine-", f"{LABEL}-boot-"
# Runs a module as `python -m` does, but takes no module from PYTHONPATH or the working folder.
MODULE = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); del sys.argv[:2]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
LOOPBACK = "127.0.0.1"
DASHBOARD_PORT = 8787
# With it, dask itself opens no connection without TLS.
ENCRYPTED = {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}
INSECURE = "--insecure-address"


def worker(address: str, name: str, options: Sequence[str], *, insecure: bool = False) -> None:
    """Become a worker, until it is stopped or its scheduler goes away.

    options: for `dask worker`. insecure: others may reach it without TLS. Raises UsageError for an
    invalid name, and for an address that others can reach.
    """
    words, variables = listening(dask_worker.main, options, address, insecure=insecure)
    _run(worker_command(address, name, [*words, *options]), variables)


def scheduler(options: Sequence[str], *, insecure: bool = False) -> None:
    """Become a scheduler, until it is stopped; `options` go to `dask scheduler`.

    insecure: others may reach it without TLS. Raises UsageError for an address that others can
    reach.
    """
    words, variables = listening(dask_scheduler.main, options, insecure=insecure)
    _run(["distributed.cli.dask_scheduler", *words, *options], variables)


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
        *("--nthreads", "1", "--memory-limit", "0", "--no-dashboard"),
        *("--name", f"{name or socket.gethostname()}-{os.getpid()}"),
        *("--resources", f"{machine_label(name)}=1"),
        *options,
        # A nanny limits every BLAS to one thread and fixes the order of hashes: a verification or
        # a timing under it would differ from one without a cluster.
        "--no-nanny",
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
    os.execve(sys.executable, module_command(*command), {**os.environ, **variables})  # noqa: S606


def module_command(*words: str) -> list[str]:
    """Return the command line that runs a module, of this project or of a tool, with arguments."""
    return [sys.executable, "-I", "-c", MODULE, str(REPOSITORY), *words]


def run(order: str, topic: str, name: str) -> str:
    """Run an order (JSON) in a worker and return its answer (JSON), empty if it was stopped.

    Each line of progress goes to `topic` with `name`, the name of this worker.
    """
    worker = distributed.get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        executes = task is not None and task.state == "executing"
        return bool(executes and worker.status.name == "running")

    try:
        answer = run_supervised(
            module_command("stacks.cluster.job"),
            order,
            lambda line: worker.log_event(topic, {"name": name, "line": line}),
            is_wanted,
            cwd=REPOSITORY,
        )
    except CommandError as error:
        answer = Answer(error=RemoteError.of(error)).model_dump_json(by_alias=True)
    return answer or ""


def listening(
    command: click.Command, options: Sequence[str], address: str = "", *, insecure: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Return more words and variables for a program of dask, which decide where it listens.

    options: the user's. address: the scheduler's, for a worker. Raises UsageError for an address
    that others can reach, without TLS and without `insecure`.
    """
    given, words = _parsed(command, options), list[str]()
    hosts = [given[name] for name in ("host", "listen_address") if name in given]
    # A scheduler elsewhere sends programs to the worker, and needs to reach it.
    exposed = [each for each in ([address] if address else []) + hosts if not is_loopback(each)]
    if given.get("interface", "lo") != "lo":
        exposed.append(given["interface"])
    if not (hosts or exposed or "interface" in given):
        words += ["--host", LOOPBACK]
    # It has no TLS by default, and dask serves pages there also with --no-dashboard.
    if "dashboard_address" not in given:
        words += ["--dashboard-address", f"{LOOPBACK}:{0 if address else DASHBOARD_PORT}"]
    if insecure:
        return words, {}
    dashboard = str(given.get("dashboard_address", LOOPBACK))
    # A number alone is a port, on every address.
    if not is_loopback(dashboard):
        raise _refused(command, f"its dashboard would listen on {dashboard}, which has no TLS")
    # Dask would take a scheduler's address without a scheme for tcp.
    schemes = {each.partition("://")[0] for each in (address, *hosts) if "://" in each}
    schemes.add(given.get("protocol", "tcp" if address and "://" not in address else "tls"))
    is_encrypted = schemes == {"tls"} and _has_certificates(str(command.name), given)
    if exposed and not is_encrypted:
        raise _refused(command, f"{', '.join(dict.fromkeys(exposed))} without TLS")
    asks_for_tls = exposed or {"tls_ca_file", "tls_cert", "tls_key"} & {*given}
    return words, ENCRYPTED if is_encrypted and asks_for_tls else {}


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address, such as `tcp://HOST:PORT`."""
    try:
        location = parse_address(address)[1]
        try:
            host = str(ipaddress.ip_address(location))
        except ValueError:
            host = parse_host_port(location, 0)[0]
        found = socket.getaddrinfo(host, None) if host else []
    except (ValueError, OSError):
        return False
    addresses = [ipaddress.ip_address(str(entry[4][0])) for entry in found]
    return bool(addresses) and all(each.is_loopback for each in addresses)


def _parsed(command: click.Command, options: Sequence[str]) -> dict[str, Any]:
    """Return the options that the user gave, by dask's names, as dask will parse them."""
    try:
        context = command.make_context(f"dask {command.name}", list(options))
    except click.exceptions.Exit as done:
        # It has printed its help or version.
        raise SystemExit(done.exit_code) from None
    except click.ClickException as error:
        raise UsageError(f"dask {command.name}: {error.format_message()}") from None
    return {
        name: value
        for name, value in context.params.items()
        if value is not None and context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    }


def _has_certificates(role: str, given: Mapping[str, Any]) -> bool:
    """Return whether the options or dask's configuration have a CA and a certificate."""
    configured: Any = distributed.Security()
    authority = given.get("tls_ca_file") or configured.tls_ca_file
    certificate = given.get("tls_cert") or getattr(configured, f"tls_{role}_cert")
    return bool(authority and certificate)


def _refused(command: click.Command, found: str) -> UsageError:
    return UsageError(
        f"anyone who reaches this {command.name} could run programs here",
        expected="an address of loopback, such as 127.0.0.1, or TLS",
        found=found,
        fix="add -- --tls-ca-file FILE --tls-cert FILE --tls-key FILE (and for a worker the "
        f"address tls://HOST:PORT), or accept the risk with {INSECURE}: see docs/guides/cluster.md",
    )
