from __future__ import annotations

from pathlib import Path

import dask.config
import pytest

from stacks.cluster import programs
from stacks.core.errors import UsageError

NEAR, FAR = "tcp://127.0.0.1:8786", "tcp://192.0.2.1:8786"
DASHBOARD = ("--dashboard-address", "127.0.0.1:8787")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Give the options of TLS, with files that exist."""
    words = []
    for name in ("ca-file", "cert", "key"):
        (tmp_path / name).touch()
        words += [f"--tls-{name}", str(tmp_path / name)]
    return words


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9:80", True),
        ("localhost:8786", True),
        ("tls://127.0.0.1:1", True),
        ("::1", True),
        ("[::1]:80", True),
        ("tcp://[::1]:80", True),
        ("", False),
        (":8787", False),
        ("tcp://:8786", False),
        ("0.0.0.0", False),
        ("::", False),
        (FAR, False),
        ("127.0.0.1.invalid", False),
        ("127.0.0.1:no-port", False),
    ],
)
def test_which_addresses_only_this_machine_reaches(address: str, near: bool) -> None:
    assert programs.is_loopback(address) is near


def test_a_scheduler_and_its_worker_listen_on_loopback() -> None:
    expected = programs.Listening(("--host", "127.0.0.1", *DASHBOARD), {})
    assert programs.of_scheduler([]) == expected
    assert programs.of_scheduler(["--port", "9000", "--no-dashboard"]) == expected
    words = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
    assert programs.of_worker(NEAR, []) == programs.Listening(words, {})
    assert programs.of_scheduler(["--interface", "lo"]).words == DASHBOARD


EXPOSED = [
    ["--host", "0.0.0.0"],
    ["--host=0.0.0.0"],
    ["--host", "127.0.0.1", "--host", "192.0.2.1:80"],
    ["--host", "tcp://:8786"],
    ["--interface", "eth0"],
    ["--interface", "lo,eth0"],
    ["--dashboard-address", ":8787"],
    ["--dashboard-address", "8787"],
]


@pytest.mark.parametrize("options", EXPOSED)
def test_an_address_that_others_reach_needs_tls_or_the_option(options: list[str]) -> None:
    with pytest.raises(UsageError, match="could run programs here") as caught:
        programs.of_scheduler(options)
    assert caught.value.fix and "--insecure-address" in caught.value.fix
    with pytest.raises(UsageError, match="could run programs here"):
        programs.of_worker(NEAR, options)
    assert programs.of_scheduler(options, insecure=True).variables == {}


@pytest.mark.parametrize("address", [FAR, "192.0.2.1:8786", "wss://192.0.2.1:1"])
def test_a_worker_of_a_scheduler_elsewhere_needs_tls_or_the_option(
    address: str, files: list[str]
) -> None:
    for options in ([], files, ["--listen-address", "tcp://0.0.0.0:9"]):
        with pytest.raises(UsageError, match="could run programs here"):
            programs.of_worker(address, options)
    words = ("--dashboard-address", "127.0.0.1:0")
    assert programs.of_worker(address, [], insecure=True) == programs.Listening(words, {})


def test_with_certificates_dask_itself_refuses_what_is_not_encrypted(files: list[str]) -> None:
    for host in ("0.0.0.0", "tls://192.0.2.1:8786"):
        listening = programs.of_scheduler(["--host", host, *files])
        assert listening == programs.Listening(DASHBOARD, programs.ENCRYPTED)
    assert programs.of_scheduler(files).variables == programs.ENCRYPTED
    assert programs.of_worker("tls://192.0.2.1:1", files).variables == programs.ENCRYPTED
    for options in (["--protocol", "tcp"], ["--host", "tcp://0.0.0.0"]):
        with pytest.raises(UsageError, match="could run programs here"):
            programs.of_scheduler(["--host", "0.0.0.0", *files, *options])
    # Without a CA, any certificate of a public one would do.
    with pytest.raises(UsageError, match="could run programs here"):
        programs.of_scheduler(["--host", "0.0.0.0", *files[2:]])


def test_certificates_in_dasks_configuration(files: list[str]) -> None:
    tls = "distributed.comm.tls"
    names = {f"{tls}.ca-file": files[1], f"{tls}.scheduler.cert": files[3]}
    with dask.config.set(names):
        listening = programs.of_scheduler(["--host", "0.0.0.0"])
        assert listening.variables == programs.ENCRYPTED
        assert programs.of_scheduler([]).variables == {}


def test_an_option_that_dask_refuses(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"dask scheduler: .*'--tls-cert'.*does not exist"):
        programs.of_scheduler(["--tls-cert", str(tmp_path / "none")])
