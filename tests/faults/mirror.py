"""A server with the pinned files of the user's cache: Debian's archive and a package index.

Paths below /bad/NAME are answered by the misbehaviour of that name in `Mirror.faults`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from unit.helpers.web_server import Request, web_server

from stacks.core.workspace import Workspace
from stacks.sources.pins import DebPin, IndexPin, Pins, cached_path, canonical, read_pins

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


def answer(handler: Request, body: bytes | None) -> None:
    """Answer honestly, also a request for the rest of a file."""
    if body is None:
        handler.send_error(404)
        return
    start = int((handler.headers.get("Range") or "bytes=0-")[6:].rstrip("-") or 0)
    if start and start >= len(body):
        handler.send(416, {}, b"")
        return
    headers = {"Content-Type": "text/html"}
    if start:
        headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
    handler.send(206 if start else 200, headers, body[start:])


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
