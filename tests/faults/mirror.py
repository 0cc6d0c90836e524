"""A server with the pinned files of the user's cache, and the ways in which it misbehaves.

It is Debian's archive and a package index. Paths below /bad are answered by `Mirror.fault`.
"""

from __future__ import annotations

import hashlib
import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from random import Random
from typing import TYPE_CHECKING

from unit.helpers.serving import Request, web_server

from stacks.core.workspace import Workspace
from stacks.sources.pins import DebPin, IndexPin, Pins, cached_path, canonical, read_pins

if TYPE_CHECKING:
    from faults.room import Room, Trial

Fault = Callable[[Request, bytes | None], None]


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
            files = (*self.pins.files, *(p for p in INVENTED if isinstance(p, IndexPin)))
            links = [
                f'<a href="../../files/{pin.filename}#sha256={pin.sha256}">{pin.filename}</a>'
                for pin in files
                if canonical(pin.name) == rest.strip("/")
            ]
            return "\n".join(["<!doctype html>", *links]).encode() if links else None
        pins: list[DebPin | IndexPin] = [*self.pins.debs, *self.pins.files]
        for pin in pins:
            if rest == (getattr(pin, "path", "") if kind == "debian" else pin.filename):
                file = cached_path(self.workspace.cache, pin)
                return file.read_bytes() if file.is_file() else None
        return None


def answer(request: Request, body: bytes | None) -> None:
    """Answer honestly, also a request for the rest of a file."""
    if body is None:
        request.send_error(404)
        return
    start = int((request.headers.get("Range") or "bytes=0-")[6:].rstrip("-") or 0)
    if start and start >= len(body):
        request.send(416, {}, b"")
        return
    headers = {"Content-Type": "text/html"}
    if start:
        headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
    request.send(206 if start else 200, headers, body[start:])


@contextmanager
def serving(workspace: Workspace) -> Iterator[Mirror]:
    mirror = Mirror(workspace, read_pins(workspace.sources_lock))

    def reply(request: Request) -> None:
        body = mirror.body(request.path)
        try:
            if mirror.fault and request.path.startswith("/bad"):
                mirror.fault(request, body)
            else:
                answer(request, body)
        except OSError:
            # The client was killed, or had enough.
            request.close_connection = True

    with web_server(reply) as port:
        mirror.url = f"http://127.0.0.1:{port}"
        yield mirror


# What a fault sends: bytes, or seconds to wait; then the connection ends.
Answer = Callable[[bytes], Iterable[bytes | float]]
# The longest that a fault answers; a client of a trial has patience for less.
LONGEST = 8.0
LOCATIONS = (
    "/bad/loop", "http://127.0.0.1:99999/x", "http://[::1/", "//", "http://", "http:///x",
    "file:///etc/passwd", "ftp://127.0.0.1/x", "gopher:", "http://a b/", "http://\x80\xff/",
    "javascript:alert(1)", "http://127.0.0.1:-1/", "http://127.0.0.1:x/", "", "http://%00/",
    "http://" + "a" * 300 + "/", "?", "#", "http://user:secret@127.0.0.1:9/",
)  # fmt: skip
OK = b"HTTP/1.1 200 OK\r\n"


def response(
    body: bytes, *headers: str, status: int = 200, length: float | None = None
) -> list[bytes | float]:
    """Return a response; `length` is the announced one, by default that of the body."""
    announced = int(len(body) if length is None else length)
    lines = [f"HTTP/1.1 {status} ...", *headers, f"Content-Length: {announced}", "", ""]
    return ["\r\n".join(lines).encode("latin-1"), body]


def with_header(header: str, status: int = 200) -> Answer:
    return lambda body: response(body, header, status=status)


def slowly(data: bytes) -> Iterator[bytes | float]:
    for byte in data:
        yield bytes([byte])
        yield 0.1


HTML = "Content-Type: text/html"
ANSWERS: dict[str, Answer] = {
    "stall": lambda body: [*response(body[: len(body) // 2], HTML, length=len(body)), LONGEST],
    "stall before headers": lambda body: [LONGEST],
    "drip": lambda body: [*response(b"", HTML, length=len(body)), *slowly(body[:100])],
    "drip headers": lambda body: slowly(OK + b"X-Header: 1\r\n" * 10),
    "endless": lambda body: [OK + b"\r\n", *[body or b"x" * 65536] * 100_000],
    "cut": lambda body: response(body[: len(body) // 2], HTML, length=len(body)),
    "longer than sent": lambda body: response(body, HTML, length=1.5 * len(body)),
    "shorter than sent": lambda body: response(body[: len(body) // 2], HTML),
    "a wrong body": lambda body: response(body[::-1], HTML),
    "empty": lambda body: response(b"", HTML),
    "a longer body": lambda body: response(body + b"more" * 100_000, HTML),
    **{f"redirect to {x!r}": with_header(f"Location: {x}", 302) for x in LOCATIONS},
    **{f"status {n}": with_header(HTML, n) for n in (400, 403, 404, 418, 429, 500, 503, 599, 999)},
    "garbage": lambda body: [bytes(range(256)) * 20],
    "no HTTP": lambda body: [b"SSH-2.0-OpenSSH_9.2\r\n"],
    "a bad status line": lambda body: [b"HTTP/1.1 abc OK\r\n\r\n"],
    "a header without end": lambda body: [OK + b"X: " + b"y" * 200_000],
    "many headers": lambda body: [OK + b"X: y\r\n" * 1000 + b"\r\n"],
    "a bad header": lambda body: [OK + b"no colon here\r\n\xff\xfe: \x00\r\n\r\nbody"],
    "a bad length": lambda body: [OK + b"Content-Length: -5\r\n\r\nbody"],
    "two lengths": lambda body: [OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nbody"],
    "a bad chunk": lambda body: [OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\nbody"],
    "a bad gzip": with_header("Content-Encoding: gzip"),
    "an unknown encoding": with_header("Content-Encoding: rot13"),
    "a bad charset": with_header("Content-Type: text/html; charset=\x01nonsense"),
    "JSON that is none": with_header("Content-Type: application/vnd.pypi.simple.v1+json"),
    "a bad range": with_header("Content-Range: bytes x-y/z", 206),
    "a bad Retry-After": with_header("Retry-After: never", 503),
    "a long Retry-After": with_header("Retry-After: 100000000", 503),
}


def misbehave(request: Request, name: str, body: bytes) -> None:
    """Send what a fault sends, for at most LONGEST seconds."""
    request.close_connection = True
    if name == "reset":
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        request.connection.close()
        return
    if name == "a loop":
        request.send(302, {"Location": request.path}, b"")
        return
    end = time.monotonic() + LONGEST
    for part in ANSWERS[name](body):
        if isinstance(part, float):
            time.sleep(part)
        else:
            request.wfile.write(part)
            request.wfile.flush()
        if time.monotonic() > end:
            break


def play(trial: Trial) -> None:
    """Fetch from a server that misbehaves always, or once, alone or before a good one."""
    room, random = trial.room, trial.random
    name = random.choice(sorted([*ANSWERS, "reset", "a loop"]))
    kind = random.choice(("debs", "index", "files"))
    once, second = random.random() < 0.3, random.random() < 0.5
    trial.tell(
        f"{name} from the {kind}, {'once' if once else 'always'}"
        f"{', with a good second mirror' if second else ''}"
    )
    room.without("sources/*")
    url = room.reference.mirror.url
    pins = [pin for pin in INVENTED if isinstance(pin, DebPin) == (kind == "debs")]
    pins = random.sample(pins, random.choice((1, 1, 2)))
    (room.root / "pins.json").write_text(json.dumps([asdict(pin) for pin in pins]))
    if random.random() < 0.3:
        leave_parts(room, random, pins)
        trial.tell("partial downloads with other bytes are there")
    counts: dict[str, int] = {}

    def fault(request: Request, body: bytes | None) -> None:
        counts[request.path] = counts.get(request.path, 0) + 1
        hit = ("/simple/" in request.path) == (kind == "index")
        if hit and not (once and counts[request.path] > 1):
            misbehave(request, name, body or b"")
        else:
            answer(request, body)

    variables = {
        "DEBIAN_MIRROR": f"{url}/bad/debian",
        "PIP_INDEX_URL": f"{url}/bad/simple",
        # Bytes per second: a trial has seconds where a person has minutes.
        "THEANO_STACKS_LEAST_RATE": "1000000",
    }
    if second:
        variables |= {"DEBIAN_SNAPSHOT_MIRROR": f"{url}/debian"}
        variables |= {"PIP_EXTRA_INDEX_URL": f"{url}/simple"}
    words = ("fetch", "--pins", "pins.json")
    room.reference.mirror.fault = fault
    try:
        done = room.run(*words, plan={"pause": 0.02, "timeout": 0.7}, variables=variables)
    finally:
        room.reference.mirror.fault = None
    if done.status:
        room.check_error(done, "127.0.0.1", *(pin.filename for pin in pins))
        done.check(not (second and kind == "debs"), "the next mirror was not tried")
    room.check_surroundings()
    again = room.run(*words)
    again.check(again.status == 0, "the next undisturbed fetch fails")
    # Its output names the files, whose bytes it has compared with the pins.
    again.check(len(again.out.splitlines()) == len(pins), "not all files were fetched")
    room.check_surroundings()
    room.check_leftovers()


def leave_parts(room: Room, random: Random, pins: Sequence[DebPin | IndexPin]) -> None:
    """Leave partial downloads with the wrong bytes, as a killed run may."""
    for pin in pins:
        folder = room.cache / "sources/sha256" / pin.sha256[:2] / pin.sha256
        folder.mkdir(parents=True)
        (folder / f"{pin.filename}.part").write_bytes(random.randbytes(5000))
