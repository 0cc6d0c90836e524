from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from stacks.sources.connection import Allowance, limited_stream


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Give two connected sockets."""
    here, there = socket.socketpair()
    with here, there:
        yield here, there


def test_each_byte_gives_more_time() -> None:
    allowance = Allowance(10.0, 100.0)
    assert 9 < allowance.left <= 10
    allowance.gain(500)
    assert 14 < allowance.left <= 15
    assert allowance.gained == 500
    assert 0 <= allowance.elapsed < 1


def test_a_stream_gives_what_arrives(pair: tuple[socket.socket, socket.socket]) -> None:
    here, there = pair
    there.sendall(b"one\ntwo")
    there.shutdown(socket.SHUT_WR)
    with limited_stream(here, lambda: 1.0) as stream:
        assert stream.readline() == b"one\n"
        assert stream.read() == b"two"


def test_bytes_now_and_then_do_not_prolong_a_read(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    here, there = pair
    done = threading.Event()

    def drip() -> None:
        while not done.wait(0.01):
            there.sendall(b"x")

    dripping = threading.Thread(target=drip)
    dripping.start()
    here.settimeout(10)
    start = time.monotonic()
    allowance = Allowance(0.1, 1.0)
    try:
        with limited_stream(here, lambda: allowance.left) as stream, pytest.raises(TimeoutError):
            stream.readline()
    finally:
        done.set()
        dripping.join()
    assert time.monotonic() - start < 1


def test_the_timeout_of_the_socket_stays(pair: tuple[socket.socket, socket.socket]) -> None:
    here, _ = pair
    here.settimeout(0.01)
    with limited_stream(here, lambda: 10.0) as stream, pytest.raises(TimeoutError):
        stream.read()
