from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources import retrieve
from stacks.sources.connection import Server, Servers
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin
from stacks.sources.web import Web
from unit.helpers.serving import Answer, Site, closed_port, deb, serving

pytestmark = pytest.mark.usefixtures("room")
COUNT = 12


class Silent:
    """A server that takes connections and never answers."""

    def __init__(self) -> None:
        self.connections: list[socket.socket] = []
        self._door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            self.connections.append(self._door.accept()[0])


@pytest.fixture
def silent() -> Silent:
    return Silent()


@pytest.fixture
def second(mirror: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Give a second mirror, which has no files yet."""
    with serving() as second:
        monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{second.url}/second")
        yield second


@pytest.fixture
def files(mirror: Site) -> list[DebPin]:
    """Give the pins of some files that the mirror has."""
    pins = []
    for number in range(COUNT):
        body = b"%d" % number * 1000
        pins.append(deb(body, f"/pool/{number}_1.0_amd64.deb"))
        mirror.files[f"/debian/pool/{number}_1.0_amd64.deb"] = body
    return pins


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    """Give the access that `fetch` uses, with a short timeout."""
    web = Web(stop=threading.Event(), timeout=0.5)
    monkeypatch.setattr(retrieve, "environment_web", lambda stop: web)
    return web


def test_a_silent_mirror_is_not_asked_for_each_file(
    workspace: Workspace,
    mirror: Site,
    silent: Silent,
    files: list[DebPin],
    web: Web,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", silent.url)
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{mirror.url}/debian")
    assert len(fetch(workspace, files)) == COUNT
    # Two tries for the first file, and none for the others.
    assert len(silent.connections) == 2
    assert len(set(mirror.paths())) == COUNT
    assert capsys.readouterr().err.count(f"trying again: {silent.url}") == 1


def test_a_mirror_that_refuses_is_tried_for_one_file_only(
    workspace: Workspace,
    mirror: Site,
    files: list[DebPin],
    pauses: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{mirror.url}/debian")
    assert len(fetch(workspace, files)) == COUNT
    assert len(pauses) == 4


def test_a_mirror_that_lacks_files_is_asked_once_for_each(
    workspace: Workspace, mirror: Site, second: Site, files: list[DebPin], pauses: list[float]
) -> None:
    second.files |= {f"/second/{pin.path}": mirror.files[f"/debian/{pin.path}"] for pin in files}
    mirror.files.clear()
    assert len(fetch(workspace, files)) == COUNT
    assert len(mirror.asked) == len(second.asked) == COUNT
    assert not pauses


def test_two_mirrors_of_one_host_fail_each_for_itself(web: Web) -> None:
    both = replace(web, roots=("http://a.test/debian", "http://a.test/old/"))
    both.server("http://a.test/debian/pool/x.deb").fails(FetchError("away"))
    assert both.server("http://a.test/debian/pool/y.deb").failure
    assert not both.server("http://a.test/old/pool/y.deb").failure
    assert not both.server("http://a.test/debian-other/y.deb").failure


def test_without_another_mirror_the_silent_one_is_named(
    workspace: Workspace,
    silent: Silent,
    files: list[DebPin],
    web: Web,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", silent.url)
    with pytest.raises(FetchError) as caught:
        fetch(workspace, files)
    assert silent.url.removeprefix("http://") in str(caught.value)
    assert "no answer in time" in str(caught.value)
    assert "./invoke configure --debian-mirror" in str(caught.value)
    assert len(silent.connections) == 2


def test_a_server_that_fails_for_one_file_is_asked_for_the_others(
    workspace: Workspace, mirror: Site, second: Site, files: list[DebPin]
) -> None:
    path = f"/debian/{files[0].path}"
    mirror.plans[path] = [Answer(500)] * 9
    second.files[f"/second/{files[0].path}"] = mirror.files[path]
    assert len(fetch(workspace, files)) == COUNT
    assert len(second.asked) == 1


def test_only_the_first_request_to_a_server_goes_alone() -> None:
    server, stop = Server(), threading.Event()
    order: list[str] = []
    entered, release = threading.Event(), threading.Event()

    def first() -> None:
        with server.turn(stop):
            entered.set()
            release.wait(5)
            order.append("first")
            server.answers()

    def later() -> None:
        with server.turn(stop):
            order.append("later")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    entered.wait(5)
    threads += [threading.Thread(target=later) for _ in range(3)]
    for thread in threads[1:]:
        thread.start()
    release.set()
    for thread in threads:
        thread.join()
    assert order == ["first", "later", "later", "later"]
    assert server.answered


def test_a_first_request_without_a_verdict_leaves_the_turn_to_the_next() -> None:
    server, stop = Server(), threading.Event()
    for _ in range(2):
        with pytest.raises(ValueError, match="neither"), server.turn(stop):
            raise ValueError("neither an answer nor a failure")
    assert not server.answered


def test_a_run_that_is_stopped_does_not_wait_for_a_server() -> None:
    server, stop = Server(), threading.Event()
    stop.set()
    with server.turn(threading.Event()), server.turn(stop):
        assert not server.answered


def test_each_host_and_port_is_a_server_of_its_own(tmp_path: Path) -> None:
    servers = Servers()
    servers.at("a.test:80").fails(FetchError("away"))
    assert servers.at("a.test:80").failure
    assert not servers.at("a.test:81").failure
    assert not servers.at("a.test:80").answered
