"""A small publication of two packages and a source; a registry on this machine to push it to."""

import base64
import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from stacks.channel.candidates import IndexEntry, read_channel
from stacks.locks.solution import Publication, locked_package, source_path
from stacks.sources.pins import DebPin
from stacks.sources.registry import RegistryWriter, registry_at
from unit.helpers.checkout import CHECKOUT
from unit.helpers.environments import add
from unit.helpers.serving import Request, deb, web_server

SOURCE = b"a source archive"


def body(name: str) -> bytes:
    return f"the package {name}".encode() * 1000


def entry(name: str) -> IndexEntry:
    """Return an entry of the package of a name, with bytes that are made of its name."""
    [candidate] = [
        o for o in read_channel(CHECKOUT).candidates.values() if o.recipe.package.name == name
    ]
    with tempfile.NamedTemporaryFile() as file:
        file.write(body(name))
        file.flush()
        package = locked_package(candidate, Path(file.name))
    return IndexEntry(package, candidate.index, candidate)


def publication(pin: DebPin | None = None) -> Publication:
    """Return a publication with one source file, by default one of SOURCE."""
    entries, left_out = (entry("libopenblas"), entry("six")), (entry("mkl"), entry("libcublas"))
    return Publication(entries, left_out, (pin or deb(SOURCE),))


def write_packages(found: Publication, folder: Path) -> dict[str, Path]:
    """Write the files of packages and sources as a cache has them; return them by path."""
    folder.mkdir()
    paths = {}
    for each in found.entries:
        path = add(folder, each.package.filename, body(each.package.name), 0o444)
        paths[each.path] = path
    for pin in found.sources:
        (folder / pin.filename).write_bytes(SOURCE)
        paths[source_path(pin)] = folder / pin.filename
    return paths


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
        return RegistryWriter(registry_at(f"oci+http://{self.host}/me/stacks", "--to"))

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

    def reply(request: Request) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        user = request.headers.get("Authorization")
        request.send(*registry.answer(request.command, request.path, user, body))

    with web_server(reply, keeps=True) as port:
        registry.host = f"127.0.0.1:{port}"
        yield registry
