"""Connections of `requests` that keep to an allowance of time, from the first header on.

The timeouts of requests and urllib3 limit one read from the socket: a server that sends a byte
every two seconds never reaches them.
"""

from __future__ import annotations

import http.client
import logging
import socket
import threading
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from stacks.core.allowance import Allowance, limited_stream

# urllib3 logs garbled headers with a traceback; such an answer is used or becomes an error.
logging.getLogger("urllib3").setLevel(logging.ERROR)


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
