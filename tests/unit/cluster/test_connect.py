from __future__ import annotations

import socket
from importlib.metadata import version
from typing import Any

import pytest

from stacks.cluster import connect
from stacks.core.errors import UsageError


@pytest.mark.parametrize(
    ("resources", "status", "found"),
    [
        ({"theano-stacks": 1.0, "theano-stacks-machine-big": 1.0}, "running", "big"),
        ({"theano-stacks": 1.0, "theano-stacks-machine-big": 1.0}, "closing", None),
        ({"GPU": 2.0}, "running", None),
        ({"theano-stacks": 1.0}, "running", None),
    ],
)
def test_which_workers_are_ours(resources: Any, status: str, found: str | None) -> None:
    info = {"resources": resources, "status": status, "name": "big-7"}
    worker = connect._worker("tcp://w:1", info)
    assert (worker.custom_name if worker else None) == found


def test_something_else_that_listens_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with (
            pytest.raises(UsageError, match="no scheduler answers there"),
            connect.connected(address, lambda who, line: None),
        ):
            pass


class LostClient:
    """A client of dask whose scheduler goes away while it connects to it."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def subscribe_topic(self, *_: object) -> None:
        pass

    def scheduler_info(self) -> Any:
        raise RuntimeError("Cannot change state of expiring Timeout")

    def close(self, timeout: float) -> None:
        raise RuntimeError("Cannot change state of expiring Timeout")


def test_a_scheduler_that_goes_away_during_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def version_at(address: str) -> str:
        return version("distributed")

    monkeypatch.setattr(connect, "_version_at", version_at)
    monkeypatch.setattr("distributed.Client", LostClient)
    with (
        pytest.raises(connect.ClusterError, match="the scheduler went away"),
        connect.connected("tcp://here:1", lambda name, line: None) as cluster,
    ):
        cluster.workers()
