"""A registry on this machine that keeps what it is sent, or answers as a test says."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from stacks.sources.registry import registry_at
from stacks.sources.registry_push import RegistryWriter

USER = base64.b64encode(b"me:hunter2").decode()
REPOSITORY = "me/stacks/noarch/six"


class Registry:
    """A registry: what it has, the requests that it got, and answers that it gives instead."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.instead: dict[str, tuple[int, dict[str, str]]] = {}
        self.host = ""
        self.tokens = False

    @property
    def writer(self) -> RegistryWriter:
        return RegistryWriter(registry_at(f"oci+http://{self.host}/me/stacks", "--to"), True)

    def answer(
        self, method: str, target: str, user: str | None, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        path, asked = urlsplit(target).path, parse_qs(urlsplit(target).query)
        self.asked.append(f"{method} {path}")
        if instead := self.instead.get(f"{method} {path}"):
            return *instead, b"why\x1b[2J"
        if path == "/token":
            granted = "push" if user == f"Basic {USER}" else "pull"
            return 200, {}, json.dumps({"token": granted}).encode()
        if self.tokens and user != "Bearer push":
            realm = f'Bearer realm="http://{self.host}/token",service="reg"'
            return 401, {"WWW-Authenticate": realm}, b""
        if method == "HEAD":
            return (200 if path.rpartition("/")[2] in self.blobs else 404), {}, b""
        if method == "POST":
            return 202, {"Location": f"/v2/{REPOSITORY}/blobs/uploads/7?state=x"}, b""
        if "/manifests/" in path:
            self.manifests[path.rpartition("/")[2]] = body
        else:
            [digest] = asked["digest"]
            assert digest == f"sha256:{hashlib.sha256(body).hexdigest()}"
            assert asked["state"] == ["x"]
            self.blobs[digest] = body
        return 201, {}, b""


@contextmanager
def running() -> Iterator[Registry]:
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            user = self.headers.get("Authorization")
            status, headers, data = registry.answer(self.command, self.path, user, body)
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815  # the base class's names

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        registry.host = f"127.0.0.1:{server.server_port}"
        try:
            yield registry
        finally:
            server.shutdown()
