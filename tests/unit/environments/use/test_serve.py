from __future__ import annotations

import errno
import http.server
import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from stacks.channel.offers import read_channel
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.use import serve
from stacks.environments.use.serve import Make, maker, server_of, write_channel
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import body, entry


@contextmanager
def serving(folder: Path, make: Make = lambda path: None) -> Iterator[int]:
    """Serve a folder; give the port."""
    with server_of(folder, 0, make) as server:
        assert server.server_address[0] == "127.0.0.1"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def answer(port: int, request: bytes) -> bytes:
    """Return all that the server sends for the bytes of a request."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        with suppress(ConnectionError):
            connection.sendall(request)
        blocks = []
        with suppress(ConnectionError):
            while block := connection.recv(1 << 16):
                blocks.append(block)
    return b"".join(blocks)


def get(port: int, path: str) -> bytes:
    """Return what the server sends for the path of a file in the channel."""
    return answer(port, f"GET /theano-stacks/{path} HTTP/1.1\r\n\r\n".encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a channel with one file, beside a secret, to which links in it lead."""
    folder = tmp_path / "channel"
    folder.mkdir()
    (folder / "a").write_text("text")
    (tmp_path / "secret").write_text("secret")
    (folder / "file").symlink_to(folder.parent / "secret")
    (folder / "folder").symlink_to(folder.parent)
    return folder


@pytest.mark.parametrize(
    "path",
    [
        "/secret",
        "//secret",
        "../secret",
        "/theano-stacks/../secret",
        "/theano-stacks/%2e%2e/secret",
        "/theano-stacks/%2E%2E%2Fsecret",
        "/theano-stacks/..%2fsecret",
        "/theano-stacks/%252e%252e/secret",
        "/theano-stacks/..\\secret",
        "/theano-stacks/a/../../secret",
        "/theano-stacks//{parent}/secret",
        "/theano-stacks/%2f{parent}/secret",
        "/theano-stacks/file",
        "/theano-stacks/folder/secret",
        "/theano-stacks/folder/",
        "/theano-stacks/a%00",
        "/theano-stacks/%ff%fe",
        "http://127.0.0.1/theano-stacks/../secret",
        pytest.param(f"/theano-stacks/{'a' * 300}", id="long name"),
        pytest.param(f"/theano-stacks/{'a/' * 3000}", id="long path"),
    ],
)
def test_no_path_leaves_the_folder(
    folder: Path, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(folder) as port:
        request = f"GET {path.format(parent=folder.parent)} HTTP/1.1\r\n\r\n"
        received = answer(port, request.encode())
    assert received.startswith(b"HTTP/1.0 404 ")
    assert b"secret" not in received
    assert "Traceback" not in capfd.readouterr().err


A = b"/theano-stacks/a HTTP/1.1\r\n"


@pytest.mark.parametrize(
    ("request_text", "status", "end"),
    [
        # rattler does not accept the answer 304.
        (b"GET " + A + b"If-Modified-Since: never\r\n\r\n", b"200", b"\r\n\r\ntext"),
        (b"HEAD " + A + b"\r\n", b"200", b"\r\n\r\n"),
        *((method + b" " + A + b"\r\n", b"501", b"") for method in (b"POST", b"PUT", b"DELETE")),
        *((method + b" " + A + b"\r\n", b"501", b"") for method in (b"CONNECT", b"X\x1b[31m")),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414", b""),
        (b"GET " + A + b"A: " + b"a" * 70_000 + b"\r\n\r\n", b"431", b""),
        (b"GET " + A + b"A: b\r\n" * 101 + b"\r\n", b"431", b""),
        (b"GET /theano-stacks/a HTTP/x\r\n\r\n", b"400", b""),
        (b"\x00\xff\x1b[31m\r\n\r\n", b"400", b""),
        (b"GET " + A + b"no colon\r\nIf-Modified-Since: \xff\r\n\r\n", b"200", b"text"),
    ],
)
def test_a_request_is_answered_within_limits(
    folder: Path, request_text: bytes, status: bytes, end: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(folder) as port:
        received = answer(port, request_text)
    # The client may lose the answer when the server closes before it has read the request.
    is_lost = not received and len(request_text) > 1 << 16
    assert is_lost or (status in received[:400] and received.endswith(end))
    assert "Traceback" not in capfd.readouterr().err


def test_a_missing_package_is_made_when_it_is_asked_for(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def make(path: str) -> None:
        asked.append(path)
        if path == "noarch/broken.conda":
            raise IntegrityError("broken was built with other bytes", fix="report it")
        if path == "noarch/unread.conda":
            raise OSError(errno.EIO, "Input/output error", "/a/disk")
        if path == "noarch/six.conda":
            (folder / "noarch").mkdir()
            (folder / path).write_bytes(b"a package")

    with serving(folder, make) as port:
        for name in ("six", "six", "other"):
            assert get(port, f"noarch/{name}.conda").endswith(b"a package") == (name == "six")
        for name in ("broken", "unread"):
            assert get(port, f"noarch/{name}.conda").startswith(b"HTTP/1.0 500 ")
    assert asked == [f"noarch/{name}.conda" for name in ("six", "other", "broken", "unread")]
    messages = capfd.readouterr().err
    assert "broken was built with other bytes fix: report it\n" in messages
    assert "Input/output error: '/a/disk'" in messages


def test_a_full_disk_is_named_and_no_fault_of_the_client(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    workspace, six = Workspace(folder.parent, folder.parent / "cache"), entry("six")

    def build(*arguments: object, **options: object) -> dict[str, Path]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(serve, "packages_of", build)
    with serving(folder, maker(workspace, folder, read_channel(CHECKOUT), (six,))) as port:
        assert get(port, six.path).startswith(b"HTTP/1.0 500 ")
    message = capfd.readouterr().err
    assert f"{workspace.cache}: No space left on device fix: free some space" in message
    assert "disconnected" not in message


def test_servers_share_no_channel_and_no_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path, tmp_path / "cache")
    channels = {name: (entry(name),) for name in ("six", "libopenblas", "mkl")}
    started: queue.Queue[http.server.ThreadingHTTPServer] = queue.Queue()

    def start(*arguments: Any, **options: Any) -> http.server.ThreadingHTTPServer:
        server = server_of(*arguments, **options)
        started.put(server)
        return server

    monkeypatch.setattr(serve, "read_channel", lambda _: None)
    monkeypatch.setattr(serve, "all_variants", lambda _: ())
    monkeypatch.setattr(serve, "entries_of", lambda *arguments: channels[arguments[2][0]])
    monkeypatch.setattr(serve, "server_of", start)
    threads, servers = [], {}
    for name in ("six", "libopenblas"):
        # In place of variants their channel's name.
        threads.append(
            threading.Thread(target=serve.serve, args=(workspace, 0, (name,)), daemon=True)
        )
        threads[-1].start()
        servers[name] = started.get(timeout=20)
    port = servers["six"].server_port
    with pytest.raises(UsageError, match=rf"port {port} cannot be served(.|\n)*--port"):
        serve.serve(workspace, port, cast(Any, ("mkl",)))
    for name, server in servers.items():
        subdirs = ("linux-64", "noarch")
        index = b"".join(get(server.server_port, f"{each}/repodata.json") for each in subdirs)
        assert {other for other in channels if f'"name": "{other}"'.encode() in index} == {name}
        server.shutdown()
    for thread in threads:
        thread.join(timeout=20)
    assert list(workspace.build.iterdir()) == []


def test_clients_at_once_get_a_package_that_is_built_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, six = Workspace(tmp_path, tmp_path / "cache"), entry("six")
    folder = tmp_path / "channel"
    write_channel(folder, (six,))
    (tmp_path / "built").write_bytes(body("six"))
    began, built = threading.Semaphore(0), []

    def build(*arguments: object, **options: object) -> dict[str, Path]:
        built.append(arguments)
        # The other requests come while this one is under way.
        for _ in range(4):
            assert began.acquire(timeout=20)
        return {six.path: tmp_path / "built"}

    monkeypatch.setattr(serve, "packages_of", build)
    made = maker(workspace, folder, read_channel(CHECKOUT), (six,))

    def make(path: str) -> None:
        began.release()
        made(path)

    answers: list[bytes] = []
    with serving(folder, make) as port:
        clients = [
            threading.Thread(target=lambda: answers.append(get(port, six.path)), daemon=True)
            for _ in range(4)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join(timeout=20)
    assert [received.endswith(body("six")) for received in answers] == [True] * 4
    assert len(built) == 1


def test_a_client_that_does_not_read_is_cut_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve._Handler, "timeout", 0.2)
    with (folder / "large").open("wb") as file:
        file.truncate(50_000_000)
    request = b"GET /theano-stacks/large HTTP/1.1\r\n\r\n"
    with (
        serving(folder) as port,
        socket.create_connection(("127.0.0.1", port)) as gone,
        socket.create_connection(("127.0.0.1", port)) as connection,
    ):
        gone.sendall(request)
        gone.close()
        connection.sendall(request)
        deadline = time.monotonic() + 30
        message = ""
        while "timed out" not in message and time.monotonic() < deadline:
            message += capfd.readouterr().err
            time.sleep(0.01)
    assert "timed out" in message
    assert "Traceback" not in message
