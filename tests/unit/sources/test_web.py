"""What servers may answer: garbled and slow answers, and those that are too long."""

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from stacks.core.errors import FetchError, StacksError, UsageError
from stacks.sources import retrieve
from stacks.sources.connection import RATE_VARIABLE, Allowance
from stacks.sources.download import download, get_document
from stacks.sources.web import Web, environment_web
from unit.helpers.serving import (
    BODY,
    DEB,
    DRIPPING,
    POOL,
    SECRET,
    Answer,
    Site,
    closed_port,
    deb,
    drip,
    raw_serving,
)

pytestmark = pytest.mark.usefixtures("room")
Got = Callable[..., bytes]
AWAY = "http://mirror.invalid/debian"


@pytest.mark.parametrize(
    ("root", "variables", "message"),
    [
        ("http://me:hunter2@CLOSED/debian", {},
         r"CLOSED cannot be reached: Connection refused(?s:.*)network: THEANO_STACKS_VENDOR="),
        (AWAY, {"http_proxy": "http://me:hunter2@CLOSED"}, "through the proxy: Connection refused"),
        ("http://me:hunter2@HOST/debian", {}, "answered 401(?s:.*)password"),
        ("http://[half/debian", {}, "(?s:.*)fix(?s:.*)spelling"),
        ("http:///debian", {}, "(?s:.*)fix(?s:.*)spelling"),
        ("https://HOST/debian", {"REQUESTS_CA_BUNDLE": "/nosuch.pem"}, "(?s:.*)fix(?s:.*)CA bund"),
    ],
)  # fmt: skip
def test_a_server_that_cannot_be_used_is_named_with_the_reason_and_no_password(
    mirror: Site,
    got: Got,
    root: str,
    variables: dict[str, str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    closed, host = f"127.0.0.1:{closed_port()}", mirror.url.removeprefix("http://")
    for name, value in {"DEBIAN_MIRROR": root, **variables}.items():
        monkeypatch.setenv(name, value.replace("CLOSED", closed).replace("HOST", host))
    mirror.plans[DEB] = [Answer(401)]
    with pytest.raises(FetchError, match=message.replace("CLOSED", closed)) as caught:
        got()
    assert SECRET not in str(caught.value) + capsys.readouterr().err
    for asked in mirror.asked:
        assert asked.headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\xff\x1b[31m\r\n\r\n",
        b"HTTP/1.1 20000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: soon\r\nContent-Range: bytes x-y/z\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 99999,
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
        b"HTTP/1.1 200 " + b"A" * 99999 + b"\r\n\r\n",
        b"HTTP/1.1 503 \x1b[31m\x07\r\nRetry-After: \xff\x01\r\n\r\n",
        b"HTTP/1.1 503 x\r\nRetry-After: " + b"9" * 5000 + b"\r\n\r\n",
        b"HTTP/1.1 206 x\r\nContent-Range: bytes " + b"9" * 5000 + b"-\r\n\r\n",
    ],
)
def test_a_garbled_answer_is_an_error_without_a_traceback(
    got: Got,
    second: Site,
    answer: bytes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    second.files[DEB] = BODY
    with raw_serving(lambda connection: connection.sendall(answer)) as address:
        monkeypatch.setenv("DEBIAN_MIRROR", address)
        assert got() == BODY
        monkeypatch.delenv("DEBIAN_SNAPSHOT_MIRROR")
        with pytest.raises(StacksError, match=rf"(?s)^.*{address}/pool.*fix:") as e:
            got(deb(b"other"))
    assert str(e.value).replace("\n", "").isprintable()
    assert "Traceback" not in caplog.text + capfd.readouterr().err


@pytest.mark.parametrize("text", ["", "0", "-1", "fast", "1e3", "\u0663"])
def test_a_least_rate_that_is_no_number_is_an_error(
    mirror: Site, got: Got, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RATE_VARIABLE, text)
    with pytest.raises(UsageError, match=rf"(?s)^{RATE_VARIABLE} is not a rate.*such as 1000"):
        got()


OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 1024000\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


class Hurried(Web):
    """Waits a second for the first bytes, in which any living server of this machine answers."""

    def allowance(self) -> Allowance:
        return Allowance(1.0, self.least_rate)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """Give an access that allows 1 s, and 1 s more for each 100 kB; it gives up dripping early."""
    monkeypatch.setenv(RATE_VARIABLE, "100000")
    web = Hurried(stop=Event())
    monkeypatch.setattr(retrieve, "environment_web", lambda stop: web)
    start = time.monotonic()
    yield web
    assert time.monotonic() - start < DRIPPING / 2


@pytest.fixture
def folder(room: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a folder, which is never slow, as second mirror; give the path of the deb there."""
    file = room / "a mirror" / POOL.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_bytes(BODY)
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", (room / "a mirror").as_uri())
    return file


@pytest.mark.usefixtures("hurried", "folder")
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        pytest.param(OK + LENGTH, b"x", id="body"),
        pytest.param(OK + b"\r\n", b"x", id="body without length"),
        pytest.param(OK + CHUNKED, b"1\r\nx\r\n", id="chunks"),
        pytest.param(b"", b"", id="nothing"),
    ],
)
def test_a_server_that_drips_is_left_for_the_next(
    got: Got, head: bytes, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_serving(drip(head, piece)) as slow:
        monkeypatch.setenv("DEBIAN_MIRROR", slow)
        assert got() == BODY


def test_a_slow_server_is_named_with_its_rate_and_the_next_one_resumes(
    got: Got, mirror: Site, hurried: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_serving(drip(OK + LENGTH, b"x" * 100)) as slow:
        monkeypatch.setenv("DEBIAN_MIRROR", slow)
        with pytest.raises(FetchError) as caught:
            got()
        with pytest.raises(FetchError, match=f"{slow}: the server is too slow"):
            get_document(Hurried(stop=Event()), slow, "*/*")
    assert str(caught.value).startswith(f"{slow}{POOL}: the server is too slow\n")
    assert "expected: 100000 bytes per second after 1 s" in str(caught.value)
    assert RATE_VARIABLE in str(caught.value)
    monkeypatch.setattr(retrieve, "environment_web", environment_web)
    monkeypatch.setenv("DEBIAN_MIRROR", f"{mirror.url}/debian")
    assert got() == BODY
    assert mirror.asked[0].headers["range"].startswith("bytes=")


def test_a_steady_server_may_take_longer_than_the_grace(hurried: Web, tmp_path: Path) -> None:
    with raw_serving(drip(OK + b"\r\n", b"x" * 10000, seconds=2.0)) as steady:
        download(hurried, steady, tmp_path / "part", 1000000, lambda gained: None)
    assert (tmp_path / "part").stat().st_size == 1000000


@pytest.mark.parametrize(
    ("head", "least"),
    [
        (OK + LENGTH.replace(b"1024000", b"1024001") + BODY, 0),
        (OK + b"\r\n" + BODY, 0),
        (b"HTTP/1.1 206 x\r\nContent-Range: bytes 1000-9999999/*\r\n"
         b"Content-Length: 9999000\r\n\r\n", 1000),
    ],
    ids=["too long", "endless", "resumed"],
)  # fmt: skip
def test_a_body_that_is_too_long_is_cut_at_the_pinned_size(
    room: Path, hurried: Web, head: bytes, least: int
) -> None:
    part = room / "part"
    part.write_bytes(BODY[:1000])
    gained: list[int] = []
    with (
        raw_serving(drip(head, b"x" * 100000)) as endless,
        pytest.raises(FetchError, match=rf"(?s)^{endless}: .*at most \d+ bytes.*fix"),
    ):
        download(hurried, endless, part, len(BODY), gained.append)
    size = part.stat().st_size if part.exists() else 0
    assert least <= size <= len(BODY) and 1000 + sum(gained) == size


def test_a_mirror_can_be_a_folder(got: Got, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", (folder.parents[4]).as_uri())
    assert got() == BODY
    with pytest.raises(FetchError, match="sends too much"):
        got(deb(b"other"))
    folder.unlink()
    with pytest.raises(FetchError, match="is not at: file:"):
        got(deb(b"another"))


def test_content_encoding_does_not_change_the_hashed_bytes(mirror: Site, got: Got) -> None:
    packed = gzip.compress(BODY)
    gzipped = {"Content-Encoding": "gzip", "Content-Type": "application/x-tar"}
    mirror.plans[DEB] = [Answer(200, packed, gzipped)]
    assert got(deb(packed)) == packed


PACKED = gzip.compress(BODY)
TOO_MUCH = "(?s:.*)too much(?s:.*)at most 2000000 bytes"


@pytest.mark.parametrize(
    ("head", "body", "error"),
    [
        (b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED), PACKED, None),
        (b"\r\n", b"x" * 3000000, TOO_MUCH),
        (b"Content-Length: 3000000\r\n\r\n", b"x" * 3000000, TOO_MUCH),
        (b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"x" * 50_000_000), TOO_MUCH),
        *(
            (b"Content-Encoding: " + encoding + b"\r\n\r\n", b"nonsense", "(?s:.*)fix")
            for encoding in (b"gzip", b"gzip, " * 50 + b"gzip", b"deflate")
        ),
    ],
)
def test_a_document_is_read_up_to_a_limit(
    hurried: Web, pauses: list[float], head: bytes, body: bytes, error: str | None
) -> None:
    with raw_serving(drip(OK + head + body, b"", seconds=0)) as server:
        if error:
            with pytest.raises(FetchError, match=server + error):
                get_document(hurried, server, "*/*", 2_000_000)
        else:
            assert get_document(hurried, server, "*/*", 2_000_000)[0] == BODY
