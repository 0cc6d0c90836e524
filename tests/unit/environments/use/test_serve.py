import errno
import http.server
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.candidates import read_channel
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.use import serve
from stacks.environments.use.serve import Make, maker, server_of, write_channel
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import body, entry
from unit.helpers.serving import in_thread


@contextmanager
def serving(folder: Path, make: Make = lambda path: None) -> Iterator[int]:
    """Serve a folder; give the port."""
    with in_thread(server_of(folder, 0, make)) as server:
        assert server.server_address[0] == "127.0.0.1"
        yield server.server_port


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
    """Give a channel with one file, beside a secret."""
    folder = tmp_path / "channel"
    folder.mkdir()
    (folder / "a").write_text("text")
    (tmp_path / "secret").write_text("secret")
    return folder


@pytest.mark.parametrize(
    "path",
    [
        *("/secret", "/theano-stacks/../secret", "/theano-stacks/%2E%2E%2Fsecret"),
        *("/theano-stacks//{parent}/secret", "http://127.0.0.1/theano-stacks/../secret"),
        "/theano-stacks/%ff%fe",
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
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("request_text", "end"),
    [
        # rattler does not accept the answer 304.
        (b"GET {} HTTP/1.1\r\nIf-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT\r\n\r\n", b"text"),
        (b"HEAD {} HTTP/1.1\r\n\r\n", b"\r\n\r\n"),
        (b"GET {} HTTP/1.1\r\nno colon\r\nIf-Modified-Since: \xff\r\n\r\n", b"text"),
    ],
)
def test_a_request_is_answered(
    folder: Path, request_text: bytes, end: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(folder) as port:
        received = answer(port, request_text.replace(b"{}", b"/theano-stacks/a"))
    assert received.startswith(b"HTTP/1.0 200 ") and received.endswith(end)
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


def test_a_server_takes_no_port_of_another(folder: Path) -> None:
    with (
        serving(folder) as port,
        pytest.raises(UsageError, match=rf"port {port} cannot be served(.|\n)*--port"),
    ):
        server_of(folder, port)


def test_a_package_is_put_into_the_channel_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, six = Workspace(tmp_path, tmp_path / "cache"), entry("six")
    folder, built = tmp_path / "channel", tmp_path / "built"
    write_channel(folder, (six,))
    built.write_bytes(body("six"))
    answers = [{six.path: built}]
    monkeypatch.setattr(serve, "packages_of", lambda *_, **options: answers.pop())
    with serving(folder, maker(workspace, folder, read_channel(CHECKOUT), (six,))) as port:
        for path in (six.path, six.path, "noarch/repodata.json"):
            assert b"200" in get(port, path)[:20]
        assert get(port, six.path).endswith(body("six"))
        assert b"404" in get(port, "noarch/other.conda")[:20]
    assert not answers


def test_a_server_of_all_locks_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: queue.Queue[http.server.ThreadingHTTPServer] = queue.Queue()

    def start(*arguments: Any, **options: Any) -> http.server.ThreadingHTTPServer:
        server = server_of(*arguments, **options)
        started.put(server)
        return server

    monkeypatch.setattr(serve, "read_channel", lambda _: None)
    monkeypatch.setattr(serve, "all_variants", lambda _: ())
    monkeypatch.setattr(serve, "entries_of", lambda *_: (entry("six"),))
    monkeypatch.setattr(serve, "server_of", start)
    workspace = Workspace(tmp_path, tmp_path / "cache")
    thread = threading.Thread(target=serve.serve, args=(workspace, 0), daemon=True)
    thread.start()
    server = started.get(timeout=60)
    assert b'"name": "six"' in get(server.server_port, "noarch/repodata.json")
    server.shutdown()
    thread.join(timeout=60)
    assert list(workspace.build.iterdir()) == []
