"""A server with the pinned files of the user's cache: Debian's archive and a package index.

Paths below /bad/NAME are answered by the misbehaviour of that name in `Mirror.faults`.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from stacks.core.workspace import Workspace
from stacks.sources.cache import cached_path
from stacks.sources.pins import DebPin, IndexPin, Pins, canonical, read_pins

Fault = Callable[[BaseHTTPRequestHandler, bytes | None], None]


def _invented(number: int) -> bytes:
    """Return the bytes of a file that no archive has."""
    return hashlib.sha256(bytes([number])).digest() * (400 << 2 * number)


# Files of the trials' own: 13 kB to 820 kB, so that no trial depends on what is cached.
BODIES = {f"invented-{number}.0-py3-none-any.whl": _invented(number) for number in range(4)} | {
    f"invented_{number}.0_amd64.deb": _invented(number) + b"deb" for number in range(4)
}
INVENTED: tuple[DebPin | IndexPin, ...] = tuple(
    DebPin(
        suite="bullseye", name=f"invented-{name[9]}", version=f"{name[9]}.0",
        path=f"pool/main/i/invented/{name}", size=len(body),
        sha256=hashlib.sha256(body).hexdigest(),
    )
    if name.endswith(".deb")
    else IndexPin(
        name="invented", version=f"{name[9]}.0", filename=name, size=len(body),
        sha256=hashlib.sha256(body).hexdigest(),
    )
    for name, body in BODIES.items()
)  # fmt: skip


@dataclass
class Mirror:
    """The files that it has by path; `fault` answers the requests below /bad."""

    workspace: Workspace
    pins: Pins
    url: str = ""
    fault: Fault | None = None
    files: dict[str, bytes] = field(default_factory=dict)

    def body(self, path: str) -> bytes | None:
        """Return what an honest server answers, None if it has no such file."""
        kind, _, rest = path.removeprefix("/bad").lstrip("/").partition("/")
        if path in self.files:
            return self.files[path]
        if (name := rest.rpartition("/")[2]) in BODIES:
            return BODIES[name]
        if kind == "simple":
            return self._index(rest.strip("/"))
        pins: list[DebPin | IndexPin] = [*self.pins.debs, *self.pins.files]
        for pin in pins:
            if rest == (getattr(pin, "path", "") if kind == "debian" else pin.filename):
                file = cached_path(self.workspace, pin)
                return file.read_bytes() if file.is_file() else None
        return None

    def _index(self, project: str) -> bytes | None:
        links = [
            f'<a href="../../files/{pin.filename}#sha256={pin.sha256}">{pin.filename}</a>'
            for pin in (*self.pins.files, *(p for p in INVENTED if isinstance(p, IndexPin)))
            if canonical(pin.name) == project
        ]
        return "\n".join(["<!doctype html>", *links]).encode() if links else None


def answer(handler: BaseHTTPRequestHandler, body: bytes | None) -> None:
    """Answer honestly, also a request for the rest of a file."""
    if body is None:
        handler.send_error(404)
        return
    start = int((handler.headers.get("Range") or "bytes=0-")[6:].rstrip("-") or 0)
    if start and start >= len(body):
        handler.send_response(416)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    handler.send_response(206 if start else 200)
    if start:
        handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", str(len(body) - start))
    handler.end_headers()
    handler.wfile.write(body[start:])


@contextmanager
def serving(workspace: Workspace) -> Iterator[Mirror]:
    mirror = Mirror(workspace, read_pins(workspace.sources_lock))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = mirror.body(self.path)
            try:
                if mirror.fault and self.path.startswith("/bad"):
                    mirror.fault(self, body)
                else:
                    answer(self, body)
            except OSError:
                # The client was killed, or had enough.
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        # A stalled answer must not hold up the end of the tests.
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            """Print nothing: clients end in every way."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    mirror.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()
