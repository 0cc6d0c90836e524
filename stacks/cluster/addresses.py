"""Where a scheduler and its workers listen: on loopback, or elsewhere with TLS.

Whoever reaches one of them without TLS can run programs there.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import distributed
from click.core import ParameterSource
from distributed.cli import dask_scheduler, dask_worker
from distributed.comm.addressing import parse_address, parse_host_port

from stacks.core.errors import UsageError

LOOPBACK = "127.0.0.1"
DASHBOARD_PORT = 8787
# With it, dask itself opens no connection without TLS.
ENCRYPTED = {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}
INSECURE = "--insecure-address"


@dataclass(frozen=True)
class Listening:
    """What decides where dask listens: more words of its command, and environment variables."""

    words: tuple[str, ...]
    variables: Mapping[str, str]


def of_scheduler(options: Sequence[str], *, insecure: bool = False) -> Listening:
    """Return how a scheduler listens; `options` are the user's for `dask scheduler`.

    Raises UsageError for an address that others can reach, without TLS and without `insecure`.
    """
    parsed = _parsed(dask_scheduler.main, options)
    words = _default_host(parsed) + _default_dashboard(parsed, DASHBOARD_PORT)
    return Listening(words, _protection("scheduler", parsed, (), insecure=insecure))


def of_worker(address: str, options: Sequence[str], *, insecure: bool = False) -> Listening:
    """Return how a worker of the scheduler at `address` listens; `options` are for `dask worker`.

    That is on loopback for a scheduler there. Raises UsageError as `of_scheduler` does.
    """
    parsed = _parsed(dask_worker.main, options)
    near = is_loopback(address)
    words = (_default_host(parsed) if near else ()) + _default_dashboard(parsed, 0)
    # A scheduler elsewhere sends programs to the worker, and needs to reach it.
    exposed = () if near else (address,)
    return Listening(words, _protection("worker", parsed, exposed, insecure=insecure))


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


def _default_host(parsed: Mapping[str, Any]) -> tuple[str, ...]:
    return () if {"host", "interface", "listen_address"} & {*parsed} else ("--host", LOOPBACK)


def _default_dashboard(parsed: Mapping[str, Any], port: int) -> tuple[str, ...]:
    # It has no TLS by default, and dask serves pages there also with --no-dashboard.
    return () if "dashboard_address" in parsed else ("--dashboard-address", f"{LOOPBACK}:{port}")


def _protection(
    role: str, parsed: Mapping[str, Any], exposed: Sequence[str], *, insecure: bool
) -> Mapping[str, str]:
    """Return the variables that make dask insist on TLS where it is used.

    exposed: addresses that others can reach, besides those in the options.
    """
    if insecure:
        return {}
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
