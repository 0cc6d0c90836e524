"""The engine, by a server at a socket that answers as docker and podman do."""

import hashlib
import io
import json
import socketserver
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

import pytest
from requests.exceptions import RequestException

from stacks.core.errors import UsageError, VerifyError
from stacks.image import engine
from stacks.image.engine import Engine, EngineError
from stacks.variants.variant import Variant
from unit.helpers.serving import Request, in_thread

DOCKER = {"Version": "20.10.24", "ApiVersion": "1.41"}
PODMAN = {
    "Version": "4.3.1", "ApiVersion": "1.41",
    "Components": [{"Name": "Podman Engine", "Version": "4.3.1"}],
}  # fmt: skip
Answers = dict[str, tuple[int, object]]


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    answers: Answers
    requests: list[str]


class Handler(Request):
    """Answers by the end of a request's path, without its version and query."""

    server: Server

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
        path = self.path.partition("?")[0]
        self.server.requests.append(f"{self.command} {self.path}")
        found = [answer for end, answer in self.server.answers.items() if path.endswith(end)]
        status, content = found[0] if found else (404, {"message": "No such image: x"})
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send(status, {}, body)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815

    def address_string(self) -> str:
        return "socket"


@contextmanager
def served(path: Path, answers: Answers) -> Iterator[Server]:
    server = Server(str(path), Handler)
    server.answers, server.requests = {"/version": (200, DOCKER), **answers}, []
    with in_thread(server):
        yield server


@contextmanager
def connected(folder: Path, answers: Answers) -> Iterator[tuple[Engine, Server]]:
    with served(folder / "s", answers) as server:
        found = engine.find({"DOCKER_HOST": f"unix://{folder}/s"})
        try:
            yield found, server
        finally:
            found.client.close()


def found_name(environ: dict[str, str]) -> str:
    found = engine.find(environ)
    found.client.close()
    return found.name


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
    text = json.dumps({"Name": name, "Metadata": {}, "Endpoints": endpoints})
    (meta / "meta.json").write_text(text)


def test_the_engine_of_each_variable_and_of_docker_context(folder: Path) -> None:
    runtime = folder / "podman"
    runtime.mkdir()
    docker, podman = f"unix://{folder}/d", f"unix://{runtime}/podman.sock"
    context(folder, "here", docker)
    context(folder, "there", podman)
    (folder / "config.json").write_text('{"currentContext": "here"}')
    here, there = "docker 20.10.24", "podman 4.3.1"
    with served(folder / "d", {}), served(runtime / "podman.sock", {"/version": (200, PODMAN)}):
        for environ, expected in (
            ({}, here),
            ({"XDG_RUNTIME_DIR": str(folder)}, here),
            ({"DOCKER_CONTEXT": "there"}, there),
            ({"DOCKER_CONTEXT": "there", "DOCKER_HOST": docker}, here),
            ({"DOCKER_HOST": podman}, there),
        ):
            assert found_name(environ) == expected, environ
    # Docker's socket is gone.
    (folder / "d").unlink()
    (runtime / "podman.sock").unlink()
    with served(runtime / "podman.sock", {"/version": (200, PODMAN)}):
        assert found_name({"XDG_RUNTIME_DIR": str(folder)}) == there
        for chosen in ({"DOCKER_HOST": docker}, {"DOCKER_CONTEXT": "here"}):
            with pytest.raises(EngineError, match="engine does not answer") as caught:
                found_name({**chosen, "XDG_RUNTIME_DIR": str(folder)})
            text = str(caught.value)
            assert "nothing at " in text and "apt install docker.io" in text and "--to oci" in text
    with pytest.raises(UsageError, match="docker has no context named nowhere"):
        engine.find({"DOCKER_CONTEXT": "nowhere"})


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ({"Version": "19.03.15", "ApiVersion": "1.40"}, "docker 19.03.15, API 1.40"),
        (
            {"ApiVersion": "1.40.0", "Components": [{"Name": "Podman Engine", "Version": "3.4.4"}]},
            "podman 3.4.4, API 1.40.0",
        ),
        *((b"", ""), (b"hello", ""), ([], ""), ({}, "")),
    ],
)
def test_a_server_that_is_too_old_or_no_engine(folder: Path, version: object, message: str) -> None:
    what = r"too old\n  expected: API 1\.41: " if message else "does not answer"
    served = connected(folder, {"/version": (200, version)})
    with pytest.raises(EngineError, match=what) as caught, served:
        raise AssertionError
    assert not message or caught.value.found == message


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
        found.remove_name("missing")
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
    answers: Answers = {"/images/load": (status, answer)}
    with connected(folder, answers) as (found, _), pytest.raises(EngineError, match=what):
        found.load(folder / "image.tar")


def test_a_name_that_is_refused(folder: Path) -> None:
    answers: Answers = {"/images/sha256:new/tag": (409, {"message": "refused"})}
    refused = pytest.raises(EngineError, match="cannot be named old:1: refused")
    with connected(folder, answers) as (found, _), refused:
        found.tag("sha256:new", "old:1")


def test_a_container_is_removed_even_if_it_does_not_start(folder: Path) -> None:
    answers: Answers = {
        "/containers/create": (201, {"Id": "c1"}),
        "/containers/c1/json": (200, {"Id": "c1", "Config": {"Tty": False}}),
        "/containers/c1/attach": (500, {"message": "no more memory"}),
    }
    refused = pytest.raises(EngineError, match="cannot be run: no more memory")
    with connected(folder, answers) as (found, server), refused:
        found.run("sha256:1", ["verify"], io.BytesIO())
    [created] = [line for line in server.requests if "/containers/create" in line]
    name = created.rpartition("name=")[2]
    assert server.requests[-1].startswith("DELETE ")
    assert f"/containers/{name}?" in server.requests[-1] and "force=True" in server.requests[-1]


@pytest.mark.parametrize(
    ("message", "what", "fix"),
    [
        (
            "('Aborted.', PermissionError(13, 'x'))",
            "this user may not use the",
            "usermod -aG docker",
        ),
        ("disk quota exceeded", "the disk of the container engine is full", "docker system df"),
        ("timed out", "the container engine does not answer", "docker context ls"),
    ],
)
def test_what_failed_is_explained(message: str, what: str, fix: str) -> None:
    with pytest.raises(EngineError, match=what) as caught, engine.explained("it failed"):
        raise RequestException(message)
    assert caught.value.found == message and fix in str(caught.value.fix)


PASS, FAIL = ({"name": "x", "status": status} for status in ("pass", "fail"))
PASSED, FAILED = {"ok": True, "checks": [PASS]}, {"ok": False, "checks": [FAIL]}


def verify(variant: Variant, reports: Sequence[Path], status: int, output: str) -> int:
    """Verify an image whose container prints this and ends so."""

    class Ended:
        def run(self, image: str, command: Sequence[str], out: IO[bytes]) -> int:
            out.write(output.encode())
            return status

    ended: Any = Ended()
    return engine.verify(ended, "x", variant, reports, full=False)


@pytest.mark.parametrize(
    ("status", "output", "found", "exit_code"),
    [
        (0, "not JSON", "exit status 0 and no report", 2),
        (0, json.dumps(FAILED), "exit status 0 and a report of a failure", 2),
        (1, "", None, 1),
        (3, json.dumps(FAILED), "exit status 3 and a report of a failure", 2),
    ],
)
def test_an_image_that_does_not_verify_never_passes(
    status: int, output: str, found: str | None, exit_code: int, variant: Variant, tmp_path: Path
) -> None:
    (tmp_path / "before").write_text("{}")
    with pytest.raises(VerifyError, match="openblas could not be verified") as caught:
        verify(variant, [tmp_path / "before", tmp_path / "new"], status, output)
    assert (caught.value.found, caught.value.exit_code) == (found, exit_code)
    assert (tmp_path / "before").read_text() == "{}" and not (tmp_path / "new").exists()


@pytest.mark.parametrize(("status", "content"), [(0, PASSED), (3, PASSED), (1, FAILED)])
def test_the_report_of_an_image_that_agrees_is_stored(
    status: int, content: object, variant: Variant, tmp_path: Path
) -> None:
    reports = [tmp_path / "folder/report.json", tmp_path / "report.json"]
    fails = pytest.raises(VerifyError, match="failed its verification")
    with fails if status == 1 else nullcontext():
        assert verify(variant, reports, status, json.dumps(content)) == status
    assert [json.loads(path.read_text()) for path in reports] == [content] * 2
