"""The engine, by a server at a socket that answers as docker and podman do."""

from __future__ import annotations

import hashlib
import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from requests.exceptions import RequestException

from stacks.core.errors import UsageError
from stacks.image import engine
from stacks.image.engine import EngineError

DOCKER = {"Version": "20.10.24", "ApiVersion": "1.41"}
PODMAN = {
    "Version": "4.3.1", "ApiVersion": "1.41",
    "Components": [{"Name": "Podman Engine", "Version": "4.3.1"}],
}  # fmt: skip
Answers = dict[str, tuple[int, object]]
Serve = Callable[..., str]


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    answers: Answers
    requests: list[str]


class Handler(BaseHTTPRequestHandler):
    """Answers by the end of a request's path, without its version and query."""

    server: Server

    def answer(self) -> None:
        left = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(left)
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
        path = self.path.partition("?")[0]
        self.server.requests.append(f"{self.command} {self.path}")
        found = [answer for end, answer in self.server.answers.items() if path.endswith(end)]
        status, content = found[0] if found else (404, {"message": "No such image: x"})
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        if data.startswith(b"cut short"):
            self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *arguments: object) -> None:
        pass

    def address_string(self) -> str:
        return "socket"


@contextmanager
def served(path: Path, answers: Answers) -> Iterator[Server]:
    with Server(str(path), Handler) as server:
        server.answers, server.requests = {"/version": (200, DOCKER), **answers}, []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def connected(folder: Path, answers: Answers) -> Iterator[tuple[engine.Engine, Server]]:
    with served(folder / "s", answers) as server:
        found = engine.find({"DOCKER_HOST": f"unix://{folder}/s"})
        try:
            yield found, server
        finally:
            found.client.close()


def find(environ: dict[str, str]) -> tuple[str, str]:
    found = engine.find(environ)
    found.client.close()
    return found.kind, found.version


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of the user's, which is docker's, too."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    return tmp_path


def context(folder: Path, name: str, host: str) -> None:
    """Write what `docker context create` writes."""
    meta = folder / "contexts/meta" / hashlib.sha256(name.encode()).hexdigest()
    meta.mkdir(parents=True)
    endpoints = {"docker": {"Host": host, "SkipTLSVerify": False}}
    (meta / "meta.json").write_text(
        json.dumps({"Name": name, "Metadata": {}, "Endpoints": endpoints})
    )


def test_the_engine_of_each_variable_and_of_docker_context(folder: Path) -> None:
    runtime = folder / "podman"
    runtime.mkdir()
    docker, podman = f"unix://{folder}/d", f"unix://{runtime}/podman.sock"
    context(folder, "here", docker)
    context(folder, "there", podman)
    (folder / "config.json").write_text('{"currentContext": "here"}')
    here, there = ("docker", "20.10.24"), ("podman", "4.3.1")
    with served(folder / "d", {}), served(runtime / "podman.sock", {"/version": (200, PODMAN)}):
        for environ, expected in (
            ({}, here),
            ({"XDG_RUNTIME_DIR": str(folder)}, here),
            ({"DOCKER_CONTEXT": "there"}, there),
            ({"DOCKER_CONTEXT": "there", "DOCKER_HOST": docker}, here),
            ({"DOCKER_HOST": podman}, there),
        ):
            assert find(environ) == expected, environ
    # Docker's socket is gone.
    (folder / "d").unlink()
    (runtime / "podman.sock").unlink()
    with served(runtime / "podman.sock", {"/version": (200, PODMAN)}):
        assert find({"XDG_RUNTIME_DIR": str(folder)}) == there
        with pytest.raises(EngineError, match="the container engine does not answer") as caught:
            find({"DOCKER_HOST": docker, "XDG_RUNTIME_DIR": str(folder)})
    assert "apt install docker.io" in str(caught.value) and "--to oci" in str(caught.value)
    with pytest.raises(UsageError, match="names no context of docker: nowhere"):
        engine.find({"DOCKER_CONTEXT": "nowhere"})


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            {"Version": "19.03.15", "ApiVersion": "1.40"},
            r"too old\n(.*\n)*  found: +Docker 19.03.15 \(its API 1.40\)",
        ),
        (
            {**PODMAN, "Components": [{"Name": "Podman Engine", "Version": "3.4.4"}]},
            r"too old\n(.*\n)*  found: +podman 3\.4\.4",
        ),
        (b"", None),
        (b"hello", None),
        ([], None),
        ({}, None),
        ({"ApiVersion": "1.41"}, None),
    ],
)
def test_a_server_that_is_too_old_or_no_engine(
    folder: Path, version: object, message: str | None
) -> None:
    with pytest.raises(EngineError, match=message), connected(folder, {"/version": (200, version)}):
        raise AssertionError


def test_only_the_engines_no_such_image_means_that_there_is_none(folder: Path) -> None:
    answers: Answers = {
        "/images/made/json": (200, {"Id": "sha256:1"}),
        # In podman's words.
        "/images/absent/json": (404, {"message": "failed to find image absent: image not known"}),
        "/images/broken/json": (500, {"message": "the store is damaged"}),
    }
    with connected(folder, answers) as (found, _):
        assert found.image_id("made") == "sha256:1"
        assert found.image_id("missing") is None and found.image_id("absent") is None
        with pytest.raises(EngineError, match="look up broken: the store is damaged") as caught:
            found.image_id("broken")
        assert caught.value.found == "status 500"


@pytest.mark.parametrize(
    ("status", "answer", "what"),
    [
        (200, {"error": "write /x: no space left on device"}, "the disk of the container engine"),
        (200, {"error": "invalid diffID for layer 0"}, "cannot load the image: invalid diffID"),
        (500, {"message": "the moon is in the way"}, "cannot load the image: the moon is in the"),
    ],
)
def test_an_image_that_cannot_be_loaded(
    folder: Path, status: int, answer: object, what: str
) -> None:
    (folder / "image.tar").write_bytes(b"x" * 100)
    with (
        connected(folder, {"/images/load": (status, answer)}) as (found, _),
        pytest.raises(EngineError, match=what),
    ):
        found.load(folder / "image.tar")


def test_an_archive_that_ends_early_is_no_archive(folder: Path) -> None:
    """An engine that is killed while it saves must not pass for one that has done so."""
    with (
        connected(folder, {"/images/x/get": (200, b"cut short")}) as (found, _),
        pytest.raises(EngineError),
    ):
        found.save("x", folder / "image.tar")


def test_names_are_given_all_or_none(folder: Path) -> None:
    answers: Answers = {
        "/images/old:1/json": (200, {"Id": "sha256:old"}),
        "/images/sha256:new/tag": (409, {"message": "refused"}),
        "/images/sha256:old/tag": (201, b""),
    }
    with (
        connected(folder, answers) as (found, server),
        pytest.raises(EngineError, match="cannot be named old:1: refused"),
    ):
        found.tag("sha256:new", ["old:1", "new:1"])
    assert any("/images/sha256:old/tag?" in line for line in server.requests)


@pytest.mark.parametrize(
    ("tags", "status", "removed"),
    [
        (["b:1"], 500, ["x:1"]),
        ([], 200, ["x:1", "sha256:1"]),
        # By another process, or in use by a container.
        ([], 404, ["x:1", "sha256:1"]),
        ([], 409, ["x:1", "sha256:1"]),
    ],
)
def test_an_image_without_another_name_goes_with_its_last(
    folder: Path, tags: list[str], status: int, removed: list[str]
) -> None:
    answers: Answers = {
        "/json": (200, {"Id": "sha256:1", "RepoTags": tags}),
        "/images/x:1": (200, []),
        "/images/sha256:1": (status, {"message": "refused"}),
    }
    with connected(folder, answers) as (found, server):
        found.remove_name("x:1")
        requests = [line.partition("?")[0] for line in server.requests]
        assert [line.rpartition("/")[2] for line in requests if "DELETE" in line] == removed
        server.answers["/json"] = (404, {"message": "No such image"})
        found.remove_name("x:1")


def test_a_container_is_confined_and_removed_even_if_it_does_not_start(folder: Path) -> None:
    answers: Answers = {
        "/containers/create": (201, {"Id": "c1"}),
        "/containers/c1/json": (200, {"Id": "c1"}),
        "/containers/c1/start": (500, {"message": "no more memory"}),
    }
    with (
        connected(folder, answers) as (found, server),
        pytest.raises(EngineError, match="cannot be started: no more memory"),
        found.container("sha256:1", ["verify"]) as container,
    ):
        container.start()
    last = server.requests[-1]
    assert last.startswith("DELETE ") and f"/containers/{container.name}?" in last
    assert "force=True" in last


@pytest.mark.parametrize(
    ("message", "what", "fix"),
    [
        (
            "('Connection aborted.', PermissionError(13, 'Permission denied'))",
            "this user may not use the container engine",
            "usermod -aG docker",
        ),
        (
            "('Connection aborted.', FileNotFoundError(2, 'No such file or directory'))",
            "the container engine does not answer",
            "docker context ls",
        ),
        ("disk quota exceeded", "the disk of the container engine is full", "docker system df"),
    ],
)
def test_what_failed_is_explained(message: str, what: str, fix: str) -> None:
    error: Any = engine.engine_error("it failed", RequestException(message))
    assert (error.what, error.found) == (what, message)
    assert fix in error.fix
