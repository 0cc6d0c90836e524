"""Servers that misbehave in every way, in place of a mirror or an index."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from random import Random

from unit.helpers.web_server import Request

from faults.kills import without
from faults.mirror import INVENTED, answer
from faults.plan import Plan
from faults.room import Room, check
from faults.trial import Trial
from stacks.sources.pins import DebPin, IndexPin

Answer = Callable[[Request, bytes], None]
# The longest that a fault answers; a client of a trial has patience for less.
LONGEST = 8.0
LOCATIONS = (
    "/bad/loop", "http://127.0.0.1:99999/x", "http://[::1/", "//", "http://", "http:///x",
    "file:///etc/passwd", "ftp://127.0.0.1/x", "gopher:", "http://a b/", "http://\x80\xff/",
    "javascript:alert(1)", "http://127.0.0.1:-1/", "http://127.0.0.1:x/", "", "http://%00/",
    "http://" + "a" * 300 + "/", "?", "#", "http://user:secret@127.0.0.1:9/",
)  # fmt: skip


def headers(handler: Request, length: int, status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", str(length))
    handler.end_headers()


def sized(announced: float, sent: float) -> Answer:
    """Return the fault that announces and sends these shares of the bytes."""

    def send(handler: Request, body: bytes) -> None:
        headers(handler, int(len(body) * announced))
        handler.wfile.write(body[: int(len(body) * sent)])
        handler.close_connection = True

    return send


def stall(handler: Request, body: bytes) -> None:
    headers(handler, len(body))
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    time.sleep(LONGEST)


def stall_before_headers(handler: Request, body: bytes) -> None:
    time.sleep(LONGEST)


def drip(handler: Request, body: bytes) -> None:
    headers(handler, len(body))
    _drip(handler, body)


def drip_headers(handler: Request, body: bytes) -> None:
    _drip(handler, b"HTTP/1.1 200 OK\r\n" + b"X-Header: 1\r\n" * 10_000)


def _drip(handler: Request, data: bytes) -> None:
    end = time.monotonic() + LONGEST
    for byte in data:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.1)
        if time.monotonic() > end:
            break
    handler.close_connection = True


def endless(handler: Request, body: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        handler.wfile.write(body or b"x" * 65536)


def redirect(handler: Request, location: str) -> None:
    handler.send_response(302)
    handler.send_header("Location", location)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def raw(data: bytes) -> Answer:
    """Return the fault that sends these bytes and closes the connection."""

    def send(handler: Request, body: bytes) -> None:
        handler.wfile.write(data)
        handler.close_connection = True

    return send


def with_header(name: str, value: str, code: int = 200) -> Answer:
    def send(handler: Request, body: bytes) -> None:
        handler.send_response(code)
        handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return send


def reset(handler: Request, body: bytes) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()


def to(location: str) -> Answer:
    return lambda handler, body: redirect(handler, location)


ANSWERS: dict[str, Answer] = {
    **{
        function.__name__: function
        for function in (
            stall, stall_before_headers, drip, drip_headers, endless, reset
        )
    },
    "cut": sized(1, 0.5),
    "longer than sent": sized(1.5, 1),
    "shorter than sent": sized(0.5, 0.5),
    "a wrong body": lambda handler, body: answer(handler, body[::-1]),
    "empty": lambda handler, body: answer(handler, b""),
    "a longer body": lambda handler, body: answer(handler, body + b"more" * 100_000),
    "a loop": lambda handler, body: redirect(handler, handler.path),
    **{f"redirect to {location!r}": to(location) for location in LOCATIONS},
    **{
        f"status {number}": with_header("Content-Type", "text/html", number)
        for number in (400, 403, 404, 418, 429, 500, 503, 599, 999)
    },
    "garbage": raw(bytes(range(256)) * 20),
    "no HTTP": raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "a bad status line": raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a header without end": raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000),
    "many headers": raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n"),
    "a bad header": raw(b"HTTP/1.1 200 OK\r\nno colon here\r\n\xff\xfe: \x00\r\n\r\nbody"),
    "a bad length": raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nbody"),
    "two lengths": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nbody"),
    "a bad chunk": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nbody"),
    "a bad gzip": with_header("Content-Encoding", "gzip"),
    "an unknown encoding": with_header("Content-Encoding", "rot13"),
    "a bad charset": with_header("Content-Type", "text/html; charset=\x01nonsense"),
    "JSON that is none": with_header("Content-Type", "application/vnd.pypi.simple.v1+json"),
    "a bad range": with_header("Content-Range", "bytes x-y/z", 206),
    "a bad Retry-After": with_header("Retry-After", "never", 503),
    "a long Retry-After": with_header("Retry-After", "100000000", 503),
}  # fmt: skip


def play(trial: Trial) -> None:
    """Fetch from a server that misbehaves always, or once, alone or before a good one."""
    room, random = trial.room, trial.random
    name = random.choice(sorted(ANSWERS))
    kind = random.choice(("debs", "index", "files"))
    once, second = random.random() < 0.3, random.random() < 0.5
    trial.tell(
        f"{name} from the {kind}, {'once' if once else 'always'}"
        f"{', with a good second mirror' if second else ''}"
    )
    without("sources/*")(room)
    url = room.reference.mirror.url
    pins = choose_pins(random, kind)
    (room.root / "pins.json").write_text(json.dumps([asdict(pin) for pin in pins]))
    if random.random() < 0.3:
        leave_parts(room, random, pins)
        trial.tell("partial downloads with other bytes are there")
    counts: dict[str, int] = {}

    def fault(handler: Request, body: bytes | None) -> None:
        counts[handler.path] = counts.get(handler.path, 0) + 1
        hit = ("/simple/" in handler.path) == (kind == "index")
        if hit and not (once and counts[handler.path] > 1):
            ANSWERS[name](handler, body or b"")
        else:
            answer(handler, body)

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
        done = room.run(*words, plan=Plan(pause=0.02, timeout=0.7), variables=variables)
    finally:
        room.reference.mirror.fault = None
    if done.status:
        room.check_error(done, "127.0.0.1", *(pin.filename for pin in pins))
        check(done, not (second and kind == "debs"), "the next mirror was not tried")
    room.check_surroundings()
    again = room.run(*words)
    check(again, again.status == 0, "the next undisturbed fetch fails")
    # Its output names the files, whose bytes it has compared with the pins.
    check(again, len(again.out.splitlines()) == len(pins), "not all files were fetched")
    room.check_surroundings()
    room.check_leftovers()


def choose_pins(random: Random, kind: str) -> list[DebPin | IndexPin]:
    pins = [pin for pin in INVENTED if isinstance(pin, DebPin) == (kind == "debs")]
    return random.sample(pins, random.choice((1, 1, 2)))


def leave_parts(room: Room, random: Random, pins: Sequence[DebPin | IndexPin]) -> None:
    """Leave partial downloads with the wrong bytes, as a killed run may."""
    for pin in pins:
        folder = room.cache / "sources/sha256" / pin.sha256[:2] / pin.sha256
        folder.mkdir(parents=True)
        (folder / f"{pin.filename}.part").write_bytes(random.randbytes(5000))
