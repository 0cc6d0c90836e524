"""Web servers on this machine that do as a test plans, and remember what they were asked."""

import hashlib
import socket
import socketserver
import ssl
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar

from stacks.core.workspace import Workspace
from stacks.sources.debian_mirrors import WHEEL_FILE
from stacks.sources.pins import DebPin, IndexPin, cached_path

BODY = bytes(range(256)) * 4000
POOL = "/pool/main/f/foo/foo_1.0_amd64.deb"
# The path of that file on the mirror of the fixture.
DEB = f"/debian{POOL}"
SECRET = "hunter2"
S = TypeVar("S", bound=socketserver.BaseServer)


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def deb(body: bytes = BODY, path: str = POOL) -> DebPin:
    return DebPin(
        suite="bullseye",
        name="foo",
        version="1.0",
        path=path.lstrip("/"),
        size=len(body),
        sha256=sha256(body),
    )


def index_file(body: bytes, filename: str, name: str = "foo", version: str = "1.0") -> IndexPin:
    """Return the pin of a file of a package index."""
    digest = sha256(body)
    return IndexPin(name=name, version=version, filename=filename, size=len(body), sha256=digest)


def closed_port() -> int:
    """Return a port of this machine at which nobody listens."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def part_of(workspace: Workspace, pin: DebPin, body: bytes) -> Path:
    part = cached_path(workspace.cache, pin).with_name(f"{pin.filename}.part")
    part.parent.mkdir(parents=True)
    part.write_bytes(body)
    return part


@dataclass(frozen=True)
class Answer:
    """One answer; where `announced` is more than the body, the connection breaks in the middle."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    announced: int | None = None


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]


class Site:
    """What the server has: `files` by path, and `plans`, answers that are given once, first."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.kinds: dict[str, str] = {}
        self.plans: dict[str, list[Answer]] = {}
        self.asked: list[Asked] = []
        self.heads = 0
        self.url = ""

    def answer(self, path: str, headers: dict[str, str]) -> Answer:
        self.asked.append(Asked(path, headers))
        if self.plans.get(path):
            return self.plans[path].pop(0)
        if path not in self.files:
            return Answer(404)
        body = self.files[path]
        if start := headers.get("range", "").removeprefix("bytes=").removesuffix("-"):
            if int(start) >= len(body):
                return Answer(416, headers={"Content-Range": f"bytes */{len(body)}"})
            message = f"bytes {start}-{len(body) - 1}/{len(body)}"
            return Answer(206, body[int(start) :], {"Content-Range": message})
        return Answer(200, body, {"Content-Type": self.kinds.get(path, "text/html")})

    def paths(self) -> list[str]:
        return [requested.path for requested in self.asked]


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()

    def reply(request: Request) -> None:
        site.heads += request.command == "HEAD"
        headers = {key.lower(): value for key, value in request.headers.items()}
        answer = site.answer(request.path, headers)
        announced = {"Content-Length": str(answer.announced or len(answer.body))}
        request.send(answer.status, answer.headers | announced, answer.body)

    with web_server(reply) as port:
        site.url = f"http://127.0.0.1:{port}"
        yield site


# Seconds that a server drips, far more than a client waits.
DRIPPING = 60.0


def drip(head: bytes, piece: bytes, seconds: float = DRIPPING) -> Callable[[socket.socket], None]:
    """Return an answer that sends `head` at once, and then a piece every 20 ms."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(head)
        for _ in range(int(seconds / 0.02)):
            time.sleep(0.02)
            connection.sendall(piece)

    return answer


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
def in_thread(server: S) -> Iterator[S]:
    """Have a server answer from a thread while the block runs, and close it then."""
    with server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


@contextmanager
def raw_serving(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve `answer(connection)` after each request's headers; give the server's address."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            # A client that has seen enough closes the connection.
            with suppress(OSError):
                answer(self.connection)

    with in_thread(_Server(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"


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

    server = _Server(("127.0.0.1", 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    with in_thread(server):
        yield server.server_port


SETTINGS = """\
apt__distribution_repository_map:
  Debian: 'http://a.test/debian'
  Ubuntu: '{{ "http://other.test/ubuntu" if x else "http://ports.test/ubuntu-ports" }}'
apt__debian_archived_releases: [buster]
apt__debian_sources:
  - name: debian-release
    uri: '{{ apt__distribution_repository_map.Debian | d() }}'
  - name: debian-release
    uri: 'http://old.test/debian'
    state: '{{ "present" if (release in apt__debian_archived_releases) else "ignore" }}'
  - name: debian-release
    state: '{{ "present" if (release not in apt__debian_archived_releases) else "ignore" }}'
    suites: [x]
  - name: debian-release-security
    uri: 'http://security.test/debian'
    state: '{{ "present" if (release in apt__debian_archived_releases) else "ignore" }}'
"""


def wheel_with(folder: Path, settings: str) -> Path:
    """Write the wheel with some settings of its apt role into a folder."""
    wheel = folder / WHEEL_FILE
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/roles/apt/defaults/main.yml", settings)
    return wheel
