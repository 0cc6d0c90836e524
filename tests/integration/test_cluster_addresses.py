"""Where real schedulers and workers listen, and what they answer there."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import distributed
import psutil
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from integration.machines import PATIENCE, kill
from integration.programs import invoke
from integration.registries import certificate, pem_of
from stacks.core.disk import REPOSITORY

Start = Callable[..., psutil.Popen]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts `./invoke WORDS`; all that it started is killed."""
    with ExitStack() as stack:

        def start(*words: str, log: str = "log") -> psutil.Popen:
            with (tmp_path / log).open("w") as out:
                process = psutil.Popen([*invoke(), *words], cwd=REPOSITORY, stdout=out, stderr=out)
            stack.callback(kill, process)
            return process

        yield start


def until(condition: Callable[[], Any], process: psutil.Popen, log: Path) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert process.poll() is None and time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    return found


def address_in(file: Path) -> str | None:
    with suppress(FileNotFoundError, json.JSONDecodeError):
        return str(json.loads(file.read_text())["address"])
    return None


def listening(process: psutil.Popen) -> set[str]:
    """Return the addresses that a process and its children listen on."""
    return {
        connection.laddr.ip
        for each in (process, *process.children(recursive=True))
        for connection in each.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def certificates(folder: Path) -> list[str]:
    """Make a CA and a certificate that it signed; return their options for dask."""
    now = datetime.datetime.now(datetime.timezone.utc)
    authority, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca = certificate(authority, now, 1, is_ca=True)
    own = certificate(key, now, 1, is_ca=False, signer=authority)
    folder.mkdir()
    (folder / "ca").write_bytes(ca.public_bytes(Encoding.PEM))
    (folder / "cert").write_bytes(own.public_bytes(Encoding.PEM))
    (folder / "key").write_bytes(pem_of(key))
    options = {"ca-file": "ca", "cert": "cert", "key": "key"}
    return [w for name, file in options.items() for w in (f"--tls-{name}", str(folder / file))]


def security(files: Sequence[str]) -> distributed.Security:
    return distributed.Security(
        tls_ca_file=files[1],
        tls_client_cert=files[3],
        tls_client_key=files[5],
        require_encryption=True,
    )


@contextmanager
def client(address: str, **options: Any) -> Iterator[distributed.Client]:
    with distributed.Client(address, timeout=PATIENCE, set_as_default=False, **options) as found:
        yield found


def test_scheduler_and_worker_listen_on_loopback_alone(start: Start, tmp_path: Path) -> None:
    file, log = tmp_path / "scheduler.json", tmp_path / "log"
    scheduler = start("scheduler", "--", "--port", "0", "--scheduler-file", str(file))
    address = until(lambda: address_in(file), scheduler, log)
    assert address.startswith("tcp://127.0.0.1:")
    worker = start("worker", address, log="worker")
    with client(address) as found:
        found.wait_for_workers(1, PATIENCE)
        assert found.submit(sum, [1, 2]).result(PATIENCE) == 3
    assert listening(scheduler) == listening(worker) == {"127.0.0.1"}


def test_with_tls_only_those_with_a_certificate_of_the_ca_are_answered(
    start: Start, tmp_path: Path
) -> None:
    file, log = tmp_path / "scheduler.json", tmp_path / "log"
    files = certificates(tmp_path / "tls")
    options = ["--host", "0.0.0.0", "--port", "0", "--scheduler-file", str(file), *files]
    scheduler = start("scheduler", "--", *options)
    port = until(lambda: address_in(file), scheduler, log).rpartition(":")[2]
    address = f"tls://127.0.0.1:{port}"
    start("worker", address, "--", *files, log="worker")
    assert "0.0.0.0" in listening(scheduler)
    with client(address, security=security(files)) as found:
        found.wait_for_workers(1, PATIENCE)
        assert found.submit(sum, [1, 2]).result(PATIENCE) == 3
        assert all(one.startswith("tls://") for one in found.scheduler_info()["workers"])
    other = security(certificates(tmp_path / "other"))
    for scheme, arguments in (("tcp", {}), ("tls", {"security": other})):
        with pytest.raises(OSError, match=r"Timed out|Connection reset|does not match"):
            distributed.Client(f"{scheme}://127.0.0.1:{port}", timeout=2, **arguments)
