"""Connections of `requests`, the addresses that servers redirect to, and what one run learnt.

A connection keeps to an allowance of time, from the first header on: the timeouts of requests and
urllib3 limit one read from the socket, and a server that sends a byte every two seconds never
reaches them. An address that a server redirects to is checked before it is asked. A server that
failed is left out for the rest of the run, so that a dead one is not asked for each file.
"""

from __future__ import annotations

import http.client
import io
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from stacks.core.errors import FetchError
from stacks.sources.mirrors import public_url

# urllib3 logs garbled headers with a traceback; such an answer is used or becomes an error.
logging.getLogger("urllib3").setLevel(logging.ERROR)


class Allowance:
    """The seconds that a transfer may take: `grace`, and more for each byte that it gains.

    The limit moves with the bytes, so a transfer below `least_rate` (bytes per second) ends soon
    after its grace, whatever its size. Only useful bytes are to be counted, not those of headers.
    """

    def __init__(self, grace: float, least_rate: float) -> None:
        self.grace, self.least_rate = grace, least_rate
        self.gained = 0
        self._start = time.monotonic()

    def gain(self, count: int) -> None:
        """Count bytes that were received."""
        self.gained += count

    @property
    def elapsed(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """The seconds that are left; negative if none are."""
        return self.grace + self.gained / self.least_rate - self.elapsed


def limited_stream(connection: socket.socket, left: Callable[[], float]) -> io.BufferedReader:
    """Return a stream to read from a socket; TimeoutError when `left()` seconds are used up.

    The socket's own timeout limits one read, and a peer that sends a byte now and then never
    reaches it.
    """
    return io.BufferedReader(_LimitedStream(connection, left))


class _LimitedStream(io.RawIOBase):
    def __init__(self, connection: socket.socket, left: Callable[[], float]) -> None:
        self._connection, self._left = connection, left
        self._timeout = connection.gettimeout()
        self._stream = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        left = self._left()
        if left <= 0:
            raise TimeoutError("timed out")
        self._connection.settimeout(left if self._timeout is None else min(left, self._timeout))
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


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
        self.allowance = Allowance(0, 1)


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self.fp = limited_stream(sock, lambda: _local.allowance.left)

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


_local = _Local()


def limited_session(allowance: Allowance) -> requests.Session:
    """Return this thread's session; until the next call its answers keep to the allowance."""
    _local.allowance = allowance
    return _local.session


OTHER_SERVER = "set another mirror or index, or ask the operator of this one"


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


def redirect_target(origin: str, address: str, location: str, *, trusted: bool = False) -> str:
    """Return the URL that the answer of `address` redirects to, with the header's `location`.

    Other schemes are refused, and http after https, as by apt, unless `trusted`. User and password
    are sent to the same host only. Raises FetchError that names `origin`, the URL asked first.
    """
    what = f"{public_url(origin)}: redirected to an address that is refused"
    # http.client decodes headers as Latin-1; other letters in addresses are sent as UTF-8.
    location = location.encode("latin-1", "replace").decode("utf-8", "replace")
    if "\ufffd" in location or not location.isprintable():
        raise FetchError(what, found=ascii(public_url(location)[:200]), fix=OTHER_SERVER)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", location):
        scheme = urlsplit(address).scheme
        target = f"{scheme}:{location}" if location.startswith("//") else location
    else:
        target = urljoin(address, location)
    check_address(target, what, OTHER_SERVER)
    if urlsplit(address).scheme == "https" != urlsplit(target).scheme and not trusted:
        raise FetchError(
            what, expected="https, as before", found=public_url(target), fix=OTHER_SERVER
        )
    return _with_user(requests.utils.requote_uri(target), address)


def _with_user(target: str, address: str) -> str:
    user, at, host = urlsplit(address).netloc.rpartition("@")
    parts = urlsplit(target)
    if not at or parts.netloc != host or parts.scheme not in ("https", urlsplit(address).scheme):
        return target
    return parts._replace(netloc=f"{user}@{parts.netloc}").geturl()


# Seconds: how long a waiting thread takes to see that the run was stopped.
POLL = 0.1


class Server:
    """One server: until it has answered or failed, only one thread asks it and others wait."""

    def __init__(self) -> None:
        self.failure: FetchError | None = None
        self._settled = threading.Event()
        self._first = threading.Lock()

    @property
    def answered(self) -> bool:
        """Whether it has answered a request, with any status."""
        return self._settled.is_set() and self.failure is None

    def answers(self) -> None:
        """Note that it has answered: the waiting threads go on."""
        self._settled.set()

    def fails(self, failure: FetchError) -> None:
        """Note that all tries failed: the rest of this run leaves it out."""
        self.failure = failure
        self._settled.set()

    @contextmanager
    def turn(self, stop: threading.Event) -> Iterator[None]:
        """Wait until this thread may ask, or `stop` is set."""
        first = False
        while not (first or self._settled.is_set() or stop.is_set()):
            first = self._first.acquire(blocking=False)
            if not first:
                self._settled.wait(POLL)
        try:
            yield
        finally:
            if first:
                self._first.release()
