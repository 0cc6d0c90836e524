from __future__ import annotations

import gzip
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.allowance import Allowance
from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources import download, retrieve
from stacks.sources.download import get_document
from stacks.sources.fetch import fetch
from stacks.sources.web import RATE_VARIABLE, Web, environment_web
from unit.helpers.serving import (
    BODY,
    DRIPPING,
    POOL,
    Answer,
    Site,
    deb,
    drip,
    part_of,
    raw_serving,
    sha256,
)


def test_a_partial_download_is_resumed(workspace: Workspace, mirror: Site) -> None:
    part = part_of(workspace, deb(), BODY[:1000])
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert [requested.headers.get("range") for requested in mirror.asked] == ["bytes=1000-"]
    assert not part.exists()


def test_a_complete_partial_download_needs_no_request(workspace: Workspace, mirror: Site) -> None:
    part_of(workspace, deb(), BODY)
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert mirror.asked == []


@pytest.mark.parametrize("part", [b"\xff" * 1000, b"\xff" * len(BODY), BODY + b"more"])
def test_a_wrong_partial_download_is_fetched_from_zero(
    workspace: Workspace, mirror: Site, part: bytes
) -> None:
    part_of(workspace, deb(), part)
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert "range" not in mirror.asked[-1].headers


def test_a_server_that_does_not_resume_sends_all_of_it(workspace: Workspace, mirror: Site) -> None:
    part_of(workspace, deb(), BODY[:1000])
    mirror.plans[f"/debian{POOL}"] = [Answer(200, BODY)]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_wrong_content_range_is_not_used(workspace: Workspace, mirror: Site) -> None:
    part_of(workspace, deb(), BODY[:1000])
    message = {"Content-Range": f"bytes 0-{len(BODY) - 1}/{len(BODY)}"}
    mirror.plans[f"/debian{POOL}"] = [Answer(206, BODY, message)]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_transfer_that_breaks_is_resumed(
    workspace: Workspace, mirror: Site, pauses: list[float]
) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(200, BODY[:5000], announced=len(BODY))]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert [requested.headers.get("range") for requested in mirror.asked] == [None, "bytes=5000-"]
    assert len(pauses) == 1


def test_a_body_that_is_too_short_is_resumed(workspace: Workspace, mirror: Site) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(200, BODY[:5000])]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_wrong_bytes_are_fetched_once_more_and_then_refused(
    workspace: Workspace, mirror: Site, room: Path
) -> None:
    wrong = BODY[:-1] + b"!"
    mirror.files[f"/debian{POOL}"] = wrong
    with pytest.raises(IntegrityError) as caught:
        fetch(workspace, [deb()])
    message = str(caught.value)
    assert f"foo_1.0_amd64.deb from {mirror.url}/debian{POOL}" in message
    assert f"expected: sha256 {sha256(BODY)}" in message
    assert f"found:    sha256 {sha256(wrong)}" in message
    assert len(mirror.asked) == 2
    assert list((room / "cache").rglob("foo*")) == []


def test_wrong_bytes_once_are_no_failure(workspace: Workspace, mirror: Site) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(200, b"!" * len(BODY))]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_body_that_never_ends_is_cut(workspace: Workspace, mirror: Site) -> None:
    mirror.files[f"/debian{POOL}"] = BODY * 20
    with pytest.raises(FetchError, match=rf"(?s)sends too much.*at most {len(BODY)} bytes"):
        fetch(workspace, [deb()])


def test_content_encoding_does_not_change_the_hashed_bytes(
    workspace: Workspace, mirror: Site
) -> None:
    packed = gzip.compress(BODY)
    pin = deb(packed)
    gzipped = {"Content-Encoding": "gzip", "Content-Type": "application/x-tar"}
    mirror.plans[f"/debian{POOL}"] = [Answer(200, packed, gzipped)]
    assert fetch(workspace, [pin])[pin].read_bytes() == packed


OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 1024000\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


class Hurried(Web):
    """Waits a second for the first bytes, in which any living server of this machine answers."""

    def allowance(self) -> Allowance:
        return Allowance(1.0, self.least_rate)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Web:
    """Give an access that allows 1 s, and 1 s more for each 100 kB."""
    monkeypatch.setenv(RATE_VARIABLE, "100000")
    web = Hurried(stop=threading.Event())
    monkeypatch.setattr(retrieve, "environment_web", lambda stop: web)
    return web


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (OK + LENGTH, b"x"),
        (OK + b"\r\n", b"x"),
        (OK + CHUNKED, b"1\r\nx\r\n"),
        (OK + CHUNKED + b"1\r\nx\r\n", b"1"),
        (OK + CHUNKED + b"1\r\nx\r\n0\r\n", b"A: b\r\n"),
        (b"", b"H"),
        (OK, b"A"),
        (OK, b"A: b\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b""),
    ],
    ids=[
        "body",
        "body without length",
        "chunks",
        "chunk head",
        "trailers",
        "status",
        "header",
        "headers",
        "continue",
        "nothing",
    ],
)
def test_a_server_that_drips_is_left_for_the_next(
    workspace: Workspace,
    room: Path,
    hurried: Web,
    head: bytes,
    piece: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A folder: however busy the machine is, it is no slow server itself.
    file = room / "mirror" / POOL.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_bytes(BODY)
    start = time.monotonic()
    with raw_serving(drip(head, piece)) as slow:
        monkeypatch.setenv("DEBIAN_MIRROR", slow)
        monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", (room / "mirror").as_uri())
        assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert time.monotonic() - start < DRIPPING / 2


def test_a_slow_server_is_named_with_its_rate(
    workspace: Workspace, room: Path, hurried: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_serving(drip(OK + LENGTH, b"x" * 100)) as slow:
        monkeypatch.setenv("DEBIAN_MIRROR", slow)
        with pytest.raises(FetchError) as caught:
            fetch(workspace, [deb()])
    assert str(caught.value).startswith(f"{slow}{POOL}: the server is too slow\n")
    assert "expected: 100000 bytes per second after 1 s" in str(caught.value)
    assert RATE_VARIABLE in str(caught.value)


def test_after_a_slow_server_the_next_one_resumes(
    workspace: Workspace, mirror: Site, hurried: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = 1000

    def slow_start(connection: socket.socket) -> None:
        drip(OK + LENGTH + BODY[:sent], b"")(connection)

    with raw_serving(slow_start) as slow:
        monkeypatch.setenv("DEBIAN_MIRROR", slow)
        with pytest.raises(FetchError):
            fetch(workspace, [deb()])
        monkeypatch.setattr(retrieve, "environment_web", environment_web)
        monkeypatch.setenv("DEBIAN_MIRROR", f"{mirror.url}/debian")
        assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert [requested.headers.get("range") for requested in mirror.asked] == [f"bytes={sent}-"]


def test_a_steady_server_may_take_longer_than_the_grace(hurried: Web, tmp_path: Path) -> None:
    with raw_serving(drip(OK + b"\r\n", b"x" * 10000, seconds=2.0)) as steady:
        download.download(hurried, steady, tmp_path / "part", 1000000, lambda gained: None)
    assert (tmp_path / "part").stat().st_size == 1000000


@pytest.mark.parametrize("head", [LENGTH.replace(b"1024000", b"1024001"), b"\r\n"])
def test_a_body_that_is_too_long_is_cut_at_the_pinned_size(
    room: Path, hurried: Web, head: bytes
) -> None:
    part = room / "part"
    part.write_bytes(BODY[:1000])
    gained: list[int] = []
    with (
        raw_serving(drip(OK + head + BODY, b"x" * 100000)) as endless,
        pytest.raises(FetchError, match=rf"(?s)^{endless}: .*at most 1024000 bytes.*fix"),
    ):
        download.download(hurried, endless, part, len(BODY), gained.append)
    assert part.stat().st_size <= len(BODY)
    assert 1000 + sum(gained) == part.stat().st_size


def test_a_resumed_body_that_is_too_long_leaves_what_was_there(room: Path, hurried: Web) -> None:
    part = room / "part"
    part.write_bytes(BODY[:1000])
    head = (
        b"HTTP/1.1 206 x\r\nContent-Range: bytes 1000-9999999/*\r\nContent-Length: 9999000\r\n\r\n"
    )
    with (
        raw_serving(drip(head, b"x" * 1000)) as endless,
        pytest.raises(FetchError, match="sends too much"),
    ):
        download.download(hurried, endless, part, len(BODY), lambda gained: None)
    assert part.read_bytes() == BODY[:1000]


def test_a_folder_as_mirror_with_a_larger_file_is_an_error(
    workspace: Workspace, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = room / "mirror" / POOL.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_bytes(BODY + b"more")
    monkeypatch.setenv("DEBIAN_MIRROR", (room / "mirror").as_uri())
    with pytest.raises(FetchError, match="sends too much"):
        fetch(workspace, [deb()])


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"\r\n", b"x" * 3000),
        (b"Content-Length: 3000\r\n\r\n", b"x" * 3000),
        (b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"x" * 50_000_000)),
    ],
)
def test_a_document_that_is_too_long_is_refused(hurried: Web, head: bytes, body: bytes) -> None:
    with (
        raw_serving(drip(OK + head + body, b"", seconds=0)) as server,
        pytest.raises(FetchError, match=rf"(?s){server}.*too much.*at most 2000 bytes"),
    ):
        get_document(hurried, server, "*/*", 2000)


def test_a_compressed_document_is_read(hurried: Web) -> None:
    packed = gzip.compress(BODY)
    head = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with raw_serving(drip(OK + head + packed, b"", seconds=0)) as server:
        assert get_document(hurried, server, "*/*")[0] == BODY


@pytest.mark.parametrize("encoding", [b"gzip", b"gzip, " * 50 + b"gzip", b"deflate"])
def test_a_body_that_is_not_compressed_as_it_says_is_an_error(
    hurried: Web, pauses: list[float], encoding: bytes
) -> None:
    head = b"Content-Encoding: " + encoding + b"\r\n\r\n"
    with (
        raw_serving(drip(OK + head + b"nonsense", b"", seconds=0)) as server,
        pytest.raises(FetchError, match=rf"(?s){server}.*fix"),
    ):
        get_document(hurried, server, "*/*")


def test_a_document_that_drips_is_an_error(hurried: Web) -> None:
    with (
        raw_serving(drip(OK + b"\r\n", b"x")) as slow,
        pytest.raises(FetchError, match=f"{slow}: the server is too slow"),
    ):
        get_document(hurried, slow, "*/*")


@pytest.mark.parametrize(
    ("head", "piece"), [(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"), (b"", b"\x16"), (b"", b"")]
)
def test_a_proxy_or_a_handshake_that_drips_is_an_error(
    hurried: Web, room: Path, head: bytes, piece: bytes
) -> None:
    start = time.monotonic()
    with raw_serving(drip(head, piece)) as slow:
        through = replace(hurried, proxy=slow)
        with pytest.raises(FetchError, match=r"no answer in time|connection"):
            get_document(through, "https://mirror.invalid/x", "*/*")
        with pytest.raises(FetchError, match=r"no answer in time|connection"):
            get_document(hurried, slow.replace("http:", "https:"), "*/*")
    assert time.monotonic() - start < DRIPPING / 2
