from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.web import RATE_VARIABLE
from unit.helpers.serving import (
    BODY,
    POOL,
    SECRET,
    Answer,
    Site,
    closed_port,
    deb,
    raw_serving,
    serving,
)

pytestmark = pytest.mark.usefixtures("room")


def test_no_network_names_the_host_and_the_reason(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = closed_port()
    monkeypatch.setenv("DEBIAN_MIRROR", f"http://me:{SECRET}@127.0.0.1:{port}/debian")
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [deb()])
    assert f"127.0.0.1:{port} cannot be reached: Connection refused" in str(caught.value)
    assert "without a network: THEANO_STACKS_VENDOR=" in str(caught.value)
    assert "fix" in str(caught.value)
    assert SECRET not in str(caught.value) + capsys.readouterr().err


def test_a_proxy_that_is_away_is_named(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:{SECRET}@127.0.0.1:{closed_port()}")
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.invalid/debian")
    with pytest.raises(FetchError, match="through the proxy: Connection refused") as caught:
        fetch(workspace, [deb()])
    assert SECRET not in str(caught.value)


def test_the_environments_proxy_is_used(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", mirror.url)
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.invalid/debian")
    mirror.files[f"http://mirror.invalid/debian{POOL}"] = BODY
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


@pytest.mark.parametrize("root", ["http://[half/debian", "http:///debian"])
def test_an_invalid_address_is_an_error(
    workspace: Workspace, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", root)
    with pytest.raises(FetchError, match=r"(?s)fix.*spelling"):
        fetch(workspace, [deb()])


def test_a_refusal_speaks_of_the_password_and_does_not_show_it(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = mirror.url.replace("//", f"//me:{SECRET}@")
    monkeypatch.setenv("DEBIAN_MIRROR", f"{address}/debian")
    mirror.plans[f"/debian{POOL}"] = [Answer(401)]
    with pytest.raises(FetchError, match=r"(?s)answered 401.*password") as caught:
        fetch(workspace, [deb()])
    assert SECRET not in str(caught.value)
    assert mirror.asked[0].headers["authorization"].startswith("Basic ")


def test_a_missing_ca_bundle_is_an_error(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch, room: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(room / "nosuch.pem"))
    monkeypatch.setenv("DEBIAN_MIRROR", mirror.url.replace("http:", "https:"))
    with pytest.raises(FetchError, match=r"(?s)fix.*CA bundle"):
        fetch(workspace, [deb()])


@pytest.fixture
def second(site: Site, mirror: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Give a second mirror with the same deb."""
    with serving() as second:
        second.files[f"/second{POOL}"] = BODY
        monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{second.url}/second")
        yield second


LOCATIONS = [
    "http://h:99999/",
    "http://h:port/",
    "http://[::1/",
    "http://[half]/x",
    "http://",
    "http:///x",
    "//",
    "file:///etc/passwd",
    "ftp://h/x",
    "gopher:x",
    "http://a\x01b/",
    "http://a\x1b[31mb/",
    "http://a\xff\xfeb/",
    "http://" + "a" * 300 + "/",
    "http://.../",
    "http://h\\@127.0.0.1/",
]


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_malformed_redirect_names_the_file_and_the_mirror(
    workspace: Workspace, mirror: Site, location: str
) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(302, headers={"Location": location})] * 9
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [deb()])
    message = str(caught.value)
    assert message.startswith(f"{mirror.url}/debian{POOL}: redirected to ")
    assert "fix:" in message and message.replace("\n", "").isprintable()


@pytest.mark.parametrize("location", LOCATIONS)
def test_after_a_malformed_redirect_the_next_mirror_is_asked(
    workspace: Workspace, mirror: Site, second: Site, location: str
) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(302, headers={"Location": location})] * 9
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert second.paths() == [f"/second{POOL}"]


def test_a_redirect_loop_ends(workspace: Workspace, mirror: Site) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(301, headers={"Location": POOL})] * 99
    mirror.plans[POOL] = [Answer(301, headers={"Location": f"/debian{POOL}"})] * 99
    with pytest.raises(FetchError, match=rf"^{mirror.url}/debian{POOL}: redirected more than 10"):
        fetch(workspace, [deb()])
    assert len(mirror.asked) == 11


def test_a_redirect_without_an_address_is_refused(workspace: Workspace, mirror: Site) -> None:
    mirror.plans[f"/debian{POOL}"] = [Answer(302, BODY)] * 9
    with pytest.raises(FetchError, match="the server answered 302"):
        fetch(workspace, [deb()])


def test_a_redirect_is_followed_and_the_body_of_its_answer_is_not_read(
    workspace: Workspace, mirror: Site
) -> None:
    plan = Answer(302, headers={"Location": "../else where/\xc3\xa9"}, announced=1 << 40)
    mirror.plans[f"/debian{POOL}"] = [plan]
    mirror.files["/debian/pool/main/f/else%20where/%C3%A9"] = BODY
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_password_goes_with_a_redirect_on_its_own_host_only(
    workspace: Workspace, mirror: Site, second: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = mirror.url.replace("//", f"//me:{SECRET}@")
    monkeypatch.setenv("DEBIAN_MIRROR", f"{address}/debian")
    here, there = Answer(302, headers={"Location": "/x"}), f"{second.url}/second{POOL}"
    mirror.plans[f"/debian{POOL}"] = [here]
    mirror.plans["/x"] = [Answer(302, headers={"Location": there})]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert all("authorization" in requested.headers for requested in mirror.asked)
    assert "authorization" not in second.asked[0].headers


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\xff\x1b[31m\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 20000 OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: soon\r\nContent-Range: bytes x-y/z\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 99999,
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
        b"HTTP/1.1 200 " + b"A" * 99999 + b"\r\n\r\n",
        b"HTTP/1.1 503 \x1b[31m\x07\r\nRetry-After: \xff\x01\r\n\r\n",
        b"HTTP/1.1 503 x\r\nRetry-After: Mon, 99 Foo 99999 99:99:99 GMT\r\n\r\n",
        b"HTTP/1.1 503 x\r\nRetry-After: " + b"9" * 5000 + b"\r\n\r\n",
        b"HTTP/1.1 206 x\r\nContent-Range: bytes " + b"9" * 5000 + b"-\r\n\r\n",
    ],
)
def test_a_garbled_answer_is_an_error_without_a_traceback(
    workspace: Workspace,
    mirror: Site,
    second: Site,
    answer: bytes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with raw_serving(lambda connection: connection.sendall(answer)) as address:
        monkeypatch.setenv("DEBIAN_MIRROR", address)
        assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
        monkeypatch.delenv("DEBIAN_SNAPSHOT_MIRROR")
        with pytest.raises(StacksError, match=rf"(?s)^.*{address}/pool.*fix:") as e:
            fetch(workspace, [deb(b"other")])
    assert str(e.value).replace("\n", "").isprintable()
    assert "Traceback" not in caplog.text + capfd.readouterr().err


@pytest.mark.parametrize("text", ["", "0", "-1", "fast", "1e3", "\u0663"])
def test_a_least_rate_that_is_no_number_is_an_error(
    workspace: Workspace, mirror: Site, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RATE_VARIABLE, text)
    with pytest.raises(UsageError, match=rf"(?s)^{RATE_VARIABLE} is not a rate.*such as 1000"):
        fetch(workspace, [deb()])
