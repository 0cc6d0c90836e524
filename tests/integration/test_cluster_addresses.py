"""Where real schedulers and workers listen, and whom they answer there."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import distributed
import psutil
import pytest

from integration.machines import PATIENCE, address_of, kill
from integration.programs import invoke
from integration.registries import write_certificate
from stacks.core.disk import REPOSITORY

Start = Callable[..., psutil.Popen]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts `./invoke WORDS`; all that it started is killed."""
    with ExitStack() as stack:

        def start(*words: str) -> psutil.Popen:
            with (tmp_path / f"log of {words[0]}").open("w") as out:
                process = psutil.Popen([*invoke(), *words], cwd=REPOSITORY, stdout=out, stderr=out)
            stack.callback(kill, process)
            return process

        yield start


def listening(process: psutil.Popen) -> set[str]:
    """Return the addresses that a process and its children listen on."""
    return {
        connection.laddr.ip
        for each in (process, *process.children(recursive=True))
        for connection in each.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def certificates(folder: Path, name: str) -> tuple[list[str], distributed.Security]:
    """Make a certificate that is its own CA; return the options of dask's programs and clients."""
    pem = folder / name
    write_certificate(pem, datetime.datetime.now(datetime.timezone.utc), 1)
    words = [word for kind in ("ca-file", "cert", "key") for word in (f"--tls-{kind}", str(pem))]
    security = distributed.Security(
        tls_ca_file=str(pem),
        tls_client_cert=str(pem),
        tls_client_key=str(pem),
        require_encryption=True,
    )
    return words, security


@pytest.mark.parametrize("tls", [False, True])
def test_scheduler_and_worker_listen_on_loopback_or_answer_those_with_a_certificate(
    start: Start, tmp_path: Path, tls: bool
) -> None:
    file, options = tmp_path / "scheduler.json", list[str]()
    arguments: dict[str, Any] = {}
    if tls:
        options, arguments["security"] = certificates(tmp_path, "ours.pem")
    words = ["--port", "0", "--scheduler-file", str(file), *options]
    words += ["--host", "0.0.0.0"] if tls else []
    scheduler = start("scheduler", "--", *words)
    address = address_of(file, scheduler)
    if tls:
        address = f"tls://127.0.0.1:{address.rpartition(':')[2]}"
    assert address.startswith("tls://127.0.0.1:" if tls else "tcp://127.0.0.1:")
    # Another run of the tests may have a worker on this machine.
    name = ("--name", f"test-{os.getpid()}")
    worker = start("worker", address, *name, *(["--", *options] if tls else []))
    with distributed.Client(address, timeout=PATIENCE, set_as_default=False, **arguments) as client:
        client.wait_for_workers(1, PATIENCE)
        assert client.submit(sum, [1, 2]).result(PATIENCE) == 3
        workers = client.scheduler_info()["workers"]
        assert all(one.startswith(address.partition("127")[0]) for one in workers)
    if not tls:
        assert listening(scheduler) == listening(worker) == {"127.0.0.1"}
        return
    assert "0.0.0.0" in listening(scheduler)
    others: dict[str, Any] = {"security": certificates(tmp_path, "other.pem")[1]}
    for url, arguments in ((address.replace("tls:", "tcp:"), {}), (address, others)):
        with pytest.raises(OSError, match=r"Timed out|Connection reset|does not match"):
            distributed.Client(url, timeout=2, **arguments)
