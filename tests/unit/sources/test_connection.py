from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from stacks.core.allowance import Allowance
from stacks.core.errors import FetchError
from stacks.sources.connection import limited_session, redirect_target
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


@pytest.mark.parametrize(
    ("address", "location", "target"),
    [
        ("http://a/x/y", "z", "http://a/x/z"),
        ("http://a/x/y", "/z w", "http://a/z%20w"),
        ("https://a/x", "//b/z", "https://b/z"),
        ("http://a/x", "https://b:444/z", "https://b:444/z"),
        ("http://a/x", "HTTP://B/z", "HTTP://B/z"),
        ("http://a/x", "/\xc3\xa9", "http://a/%C3%A9"),
        ("http://me:pw@a/x", "/z", "http://me:pw@a/z"),
        ("http://me:pw@a/x", "http://a/z", "http://me:pw@a/z"),
        ("http://me:pw@a/x", "https://a/z", "https://me:pw@a/z"),
        ("http://me:pw@a/x", "http://b/z", "http://b/z"),
        ("http://me:pw@a/x", "http://a:81/z", "http://a:81/z"),
        ("https://me:pw@a/x", "http://a/z", "http://a/z"),
    ],
)
def test_a_redirect_leads_to(address: str, location: str, target: str) -> None:
    assert redirect_target(address, address, location, trusted=True) == target


def test_http_after_https_is_refused() -> None:
    with pytest.raises(FetchError, match=r"(?s)^https://a/x: redirected.*https, as before.*b/x"):
        redirect_target("https://me:pw@a/x", "https://a/x", "http://b/x")


def test_a_refused_address_is_shown_without_its_password() -> None:
    with pytest.raises(FetchError, match="found:    file://etc/x") as caught:
        redirect_target("http://a/x", "http://a/x", "file://me:secret@etc/x?token=secret")
    assert "secret" not in str(caught.value)
