from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from stacks.core.allowance import Allowance
from stacks.sources.connection import limited_session
from unit.helpers.serving import raw_serving
from unit.helpers.web_server import Request, web_server


@pytest.fixture
def address() -> Iterator[str]:
    """Give the address of a server that keeps connections and answers with the client's port."""

    def reply(request: Request) -> None:
        request.send(200, {}, str(request.client_address[1]).encode())

    with web_server(reply, keeps=True) as port:
        yield f"http://127.0.0.1:{port}"


def get(address: str, allowance: Allowance) -> bytes:
    with limited_session(allowance).get(address, stream=True, timeout=5) as response:
        return b"".join(iter(lambda: response.raw.read1(1 << 16), b""))


def test_a_connection_is_used_again_with_the_next_allowance(address: str) -> None:
    first = get(address, Allowance(5, 1))
    assert get(address, Allowance(5, 1)) == first
    with pytest.raises(requests.Timeout):
        get(address, Allowance(0, 1))
    assert get(address, Allowance(5, 1)).isdigit()
    limited_session(Allowance(5, 1)).close()


def test_a_redirect_is_not_followed() -> None:
    head = b"HTTP/1.1 302 x\r\nLocation: /y\r\nContent-Length: 9999999\r\n\r\n"
    with raw_serving(lambda connection: connection.sendall(head)) as address:
        response = limited_session(Allowance(5, 1)).get(address, stream=True)
        response.close()
    assert response.status_code == 302 and response.history == []


@pytest.mark.parametrize("length", [b"5, 6", b"soon", b"-1", b"5\r\nContent-Length: 6"])
def test_an_unclear_length_is_refused(length: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\nhello"
    with (
        raw_serving(lambda connection: connection.sendall(head)) as address,
        pytest.raises(requests.ConnectionError, match="Content-Length is not a number"),
    ):
        limited_session(Allowance(5, 1)).get(address, stream=True)
