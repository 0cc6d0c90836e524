"""Connections of `requests` that keep to an allowance of time, and the addresses they may lead to.

The timeouts of requests and urllib3 limit one read from the socket, and a server that sends a byte
every two seconds never reaches them. An address that a server redirects to is checked before it is
asked. A file: URL is answered as by a server.
"""

from __future__ import annotations

import http.client
import io
import logging
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

import requests
import urllib3
from requests.adapters import HTTPAdapter

from stacks.core.errors import FetchError
from stacks.sources.mirrors import public_url

# urllib3 logs garbled headers with a traceback; such an answer is used or becomes an error.
logging.getLogger("urllib3").setLevel(logging.ERROR)
OTHER_SERVER = "set another mirror or index, or ask the operator of this one"


class Allowance:
    """The seconds that a transfer may take: `grace`, and more for each byte that it has `gained`.

    The limit moves with the bytes, so a transfer below `least_rate` (bytes per second) ends soon
    after its grace, whatever its size. Only useful bytes are to be counted, not those of headers.
    """

    def __init__(self, grace: float, least_rate: float) -> None:
        self.grace, self.least_rate = grace, least_rate
        self.gained = 0
        self._start = time.monotonic()

    @property
    def elapsed(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """The seconds that are left; negative if none are."""
        return self.grace + self.gained / self.least_rate - self.elapsed


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return none: requests would read all of the answer and follow any address."""


class _Local(threading.local):
    """What each thread has of its own: threads must not share a session."""

    def __init__(self) -> None:
        self.session = _Session()
        self.session.headers["User-Agent"] = "theano-stacks"
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, _Adapter())
        self.session.mount("file:", _Files())
        self.allowance = Allowance(0, 1)


class _LimitedStream(io.RawIOBase):
    """Reads from a socket; TimeoutError when the thread's allowance is used up."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._timeout = connection, connection.gettimeout()
        self._stream = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        left = _local.allowance.left
        if left <= 0:
            raise TimeoutError("timed out")
        self._connection.settimeout(left if self._timeout is None else min(left, self._timeout))
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_LimitedStream(sock))

    def begin(self) -> None:
        super().begin()
        # An error after this method, as urllib3 raises it, would leave the socket open.
        lengths = set(self.msg.get_all("Content-Length", []))
        if len(lengths) > 1 or not all(length.isdecimal() for length in lengths):
            raise http.client.HTTPException("Content-Length is not a number")


class _HTTPConnection(urllib3.connection.HTTPConnection):
    response_class = _Response


class _HTTPSConnection(urllib3.connection.HTTPSConnection):
    response_class = _Response


class _HTTPPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HTTPConnection


class _HTTPSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection


_POOLS = {"http": _HTTPPool, "https": _HTTPSPool}


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **options: Any) -> urllib3.ProxyManager:
        manager: urllib3.ProxyManager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager


class _Files(HTTPAdapter):
    """Answers for file: URLs."""

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        path = Path(url2pathname(urlsplit(request.url or "").path))
        found = path.is_file()
        raw = urllib3.HTTPResponse(
            path.open("rb") if found and request.method == "GET" else io.BytesIO(),
            {"Content-Length": str(path.stat().st_size)} if found else {},
            status=200 if found else 404,
            reason="OK" if found else "no such file",
            preload_content=False,
            request_method=request.method,
        )
        return self.build_response(request, raw)


_local = _Local()


def limited_session(allowance: Allowance) -> requests.Session:
    """Return this thread's session; until the next call its answers keep to the allowance."""
    _local.allowance = allowance
    return _local.session


def check_address(url: str, what: str, fix: str) -> str:
    """Return an http or https URL; FetchError, `what` with the reason, if it is not one."""
    try:
        parts = urlsplit(url)
        # The port is parsed when it is read.
        _ = parts.port
    except ValueError as error:
        raise FetchError(f"{what}: it cannot be parsed: {error}", fix=fix) from error
    host = (parts.hostname or "").strip(".")
    # Parsers differ on where a host ends that a backslash follows.
    sound = host and url.isprintable() and "\\" not in parts.netloc
    if parts.scheme not in ("http", "https") or not sound:
        raise FetchError(
            what, expected="http or https, and the name of a host", found=public_url(url), fix=fix
        )
    return url


def redirect_target(
    origin: str, address: str, location: str, is_trusted: Callable[[str], bool]
) -> str:
    """Return the URL that the answer of `address` redirects to, with the header's `location`.

    Other schemes are refused, and http after https, as by apt, unless the target is trusted. User
    and password are sent to the same host only. Raises FetchError that names `origin`, the URL
    asked first.
    """
    what = f"{public_url(origin)}: redirected to an address that is refused"
    # http.client decodes headers as Latin-1; other letters in addresses are sent as UTF-8.
    location = location.encode("latin-1", "replace").decode("utf-8", "replace")
    if "\ufffd" in location or not location.isprintable():
        raise FetchError(what, found=ascii(public_url(location)[:200]), fix=OTHER_SERVER)
    asked = urlsplit(address)
    try:
        target = urljoin(address, location)
    except ValueError:
        target = location
    parts = urlsplit(check_address(target, what, OTHER_SERVER))
    if asked.scheme == "https" != parts.scheme and not is_trusted(target):
        raise FetchError(
            what, expected="https, as before", found=public_url(target), fix=OTHER_SERVER
        )
    target = requests.utils.requote_uri(target)
    user, at, host = asked.netloc.rpartition("@")
    if at and parts.netloc == host and parts.scheme in ("https", asked.scheme):
        return urlsplit(target)._replace(netloc=f"{user}@{host}").geturl()
    return str(target)
