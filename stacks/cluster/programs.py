"""`./invoke worker` and `./invoke scheduler`: dask's programs with this project's options.

They listen on loopback, or elsewhere with TLS: whoever reaches one of them without TLS can run
programs there.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import distributed
from click.core import ParameterSource
from distributed.cli import dask_scheduler, dask_worker
from distributed.comm.addressing import parse_address, parse_host_port

from stacks.bench.result import NAME
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError

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
    listening = of_worker(address, options, insecure=insecure)
    _run(worker_command(address, name, [*listening.words, *options]), listening.variables)


def scheduler(options: Sequence[str], *, insecure: bool = False) -> None:
    """Become a scheduler, until it is stopped; `options` go to `dask scheduler`.

    insecure: others may reach it without TLS. Raises UsageError for an address that others can
    reach.
    """
    listening = of_scheduler(options, insecure=insecure)
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


@dataclass(frozen=True)
class Listening:
    """What decides where dask listens: more words of its command, and environment variables."""

    words: tuple[str, ...]
    variables: Mapping[str, str]


def of_scheduler(options: Sequence[str], *, insecure: bool = False) -> Listening:
    """Return how a scheduler listens; `options` are the user's for `dask scheduler`.

    Raises UsageError for an address that others can reach, without TLS and without `insecure`.
    """
    return _listening(dask_scheduler.main, options, (), DASHBOARD_PORT, insecure=insecure)


def of_worker(address: str, options: Sequence[str], *, insecure: bool = False) -> Listening:
    """Return how a worker of the scheduler at `address` listens; `options` are for `dask worker`.

    That is on loopback for a scheduler there. Raises UsageError as `of_scheduler` does.
    """
    # A scheduler elsewhere sends programs to the worker, and needs to reach it.
    exposed = () if is_loopback(address) else (address,)
    return _listening(dask_worker.main, options, exposed, 0, insecure=insecure)


def _listening(
    command: click.Command,
    options: Sequence[str],
    exposed: Sequence[str],
    dashboard_port: int,
    *,
    insecure: bool,
) -> Listening:
    """Return how a program of dask listens; exposed: addresses that it uses besides its options."""
    parsed, words = _parsed(command, options), []
    if not exposed and not {"host", "interface", "listen_address"} & {*parsed}:
        words += ["--host", LOOPBACK]
    # It has no TLS by default, and dask serves pages there also with --no-dashboard.
    if "dashboard_address" not in parsed:
        words += ["--dashboard-address", f"{LOOPBACK}:{dashboard_port}"]
    variables = {} if insecure else _protection(str(command.name), parsed, exposed)
    return Listening(tuple(words), variables)


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


def _protection(role: str, parsed: Mapping[str, Any], exposed: Sequence[str]) -> Mapping[str, str]:
    """Return the variables that make dask insist on TLS where it is used.

    exposed: addresses that others can reach, besides those in the options.
    """
    hosts = [parsed[name] for name in ("host", "listen_address") if name in parsed]
    exposed = [*exposed, *(host for host in hosts if not is_loopback(host))]
    if parsed.get("interface", "lo") != "lo":
        exposed.append(parsed["interface"])
    dashboard = str(parsed.get("dashboard_address", LOOPBACK))
    # A number alone is a port, on every address.
    if dashboard.isdecimal() or not is_loopback(dashboard):
        raise _refused(role, f"its dashboard would listen on {dashboard}, which has no TLS")
    schemes = {address.partition("://")[0] for address in [*exposed, *hosts] if "://" in address}
    schemes |= {parsed["protocol"]} if "protocol" in parsed else set()
    if role == "worker" and exposed and not schemes:
        # Dask would take an address without a scheme for tcp.
        schemes = {"tcp"}
    encrypted = schemes <= {"tls"} and _has_certificates(role, parsed)
    if exposed and not encrypted:
        raise _refused(role, f"{', '.join(dict.fromkeys(exposed))} without TLS")
    asks_for_tls = exposed or {"tls_ca_file", "tls_cert", "tls_key"} & {*parsed}
    return ENCRYPTED if encrypted and asks_for_tls else {}


def _has_certificates(role: str, parsed: Mapping[str, Any]) -> bool:
    """Return whether the options or dask's configuration have a CA and a certificate."""
    configured: Any = distributed.Security()
    authority = parsed.get("tls_ca_file") or configured.tls_ca_file
    certificate = parsed.get("tls_cert") or getattr(configured, f"tls_{role}_cert")
    return bool(authority and certificate)


def _refused(role: str, found: str) -> UsageError:
    return UsageError(
        f"anyone who reaches this {role} could run programs here",
        expected="an address of loopback, such as 127.0.0.1, or TLS",
        found=found,
        fix="add -- --tls-ca-file FILE --tls-cert FILE --tls-key FILE (and for a worker the "
        f"address tls://HOST:PORT), or accept the risk with {INSECURE}: see docs/guides/cluster.md",
    )
