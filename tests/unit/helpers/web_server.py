"""A web server on this machine, by which each test answers in its own way."""

from __future__ import annotations

import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Request(BaseHTTPRequestHandler):
    """A request: `path`, `headers` and `command`; the reply is written to `wfile`."""

    def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Reply with a body and its length, unless the headers have another one."""
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A slow answer must not hold up the end of its test.
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing about a client that was killed, or has seen enough."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as given


@contextmanager
def web_server(
    reply: Callable[[Request], None], *, keeps: bool = False, tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Have `reply` answer every request, each client in a thread; give the server's port.

    keeps: whether it keeps connections (HTTP/1.1).
    """

    class Handler(Request):
        protocol_version = "HTTP/1.1" if keeps else "HTTP/1.0"

        def do_GET(self) -> None:
            reply(self)

        do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815  # the base class's names

    with _Server(("127.0.0.1", 0), Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
