"""Pinned files from several places: their order, redirects, servers that fail, the error."""

import platform
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources import debian_mirrors, places, retrieve
from stacks.sources.connection import redirect_target
from stacks.sources.debian_mirrors import WHEEL_FILE
from stacks.sources.fetch import fetch
from stacks.sources.package_index import PipSettings
from stacks.sources.pins import DebPin, Pins, write_pins
from stacks.sources.web import Web
from unit.helpers.serving import (
    BODY,
    DEB,
    POOL,
    SETTINGS,
    Answer,
    Site,
    closed_port,
    deb,
    drip,
    index_file,
    raw_serving,
    sha256,
    wheel_with,
)

pytestmark = pytest.mark.usefixtures("room")
Got = Callable[..., bytes]
COUNT = 12
# The fixture `room` has another one in its place.
ENDED_MIRRORS = debian_mirrors.ended_mirrors


def away() -> str:
    return f"http://127.0.0.1:{closed_port()}/debian"


@pytest.fixture
def files(mirror: Site) -> list[DebPin]:
    """Give the pins of some files that the mirror has."""
    pins = []
    for number in range(COUNT):
        body = b"%d" % number * 1000
        pins.append(deb(body, f"/pool/{number}_1.0_amd64.deb"))
        mirror.files[f"/debian/pool/{number}_1.0_amd64.deb"] = body
    return pins


@pytest.mark.parametrize("silent", [True, False])
def test_a_mirror_that_does_not_answer_is_given_up_by_each_thread_once(
    workspace: Workspace,
    mirror: Site,
    files: list[DebPin],
    pauses: list[float],
    monkeypatch: pytest.MonkeyPatch,
    silent: bool,
) -> None:
    web = Web(stop=threading.Event(), timeout=0.5)
    monkeypatch.setattr(retrieve, "environment_web", lambda stop: web)
    with raw_serving(drip(b"", b"")) as address:
        root = address if silent else away()
        monkeypatch.setenv("DEBIAN_MIRROR", root)
        reason = "no answer in time" if silent else "Connection refused"
        with pytest.raises(FetchError, match=rf"(?s){root}/pool.*{reason}.*DEBIAN_MIRROR"):
            fetch(workspace, files)
        # One that never answered is tried twice.
        assert len(pauses) <= (1 if silent else 4) * 8
        monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{mirror.url}/debian")
        found = fetch(workspace, files)
    assert [path.stat().st_size for path in found.values()] == [pin.size for pin in files]
    assert len(mirror.paths()) == COUNT


def test_a_mirror_that_lacks_files_or_fails_for_one_is_asked_once_for_each_other(
    workspace: Workspace, mirror: Site, second: Site, files: list[DebPin], pauses: list[float]
) -> None:
    second.files, mirror.files = mirror.files, {}
    assert len(fetch(workspace, files[3:])) == COUNT - 3
    assert len(mirror.asked) == len(second.asked) == COUNT - 3 and not pauses
    mirror.files, second.asked = dict(second.files), []
    busy, lacking, wrong = (f"/debian/{pin.path}" for pin in files[:3])
    mirror.plans[busy] = [Answer(500)] * 9
    mirror.files[wrong] = b"!" * len(mirror.files[wrong])
    del mirror.files[lacking]
    assert len(fetch(workspace, files)) == COUNT
    assert sorted(second.paths()) == sorted([busy, lacking, wrong])


def test_the_error_for_a_dropped_version_has_a_fix(workspace: Workspace, mirror: Site) -> None:
    mirror.files.clear()
    others = [deb(b"%d" % n, f"/pool/{n}_1.0_amd64.deb") for n in range(12)]
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [deb(), *others])
    message = str(caught.value)
    assert f"foo 1.0 of bullseye (foo_1.0_amd64.deb) is not at: {mirror.url}/debian" in message
    assert "and 3 more" in message
    assert "DEBIAN_SNAPSHOT_MIRROR" in message
    assert "./invoke pin" in message


@pytest.mark.parametrize("lies_first", [True, False])
def test_wrong_bytes_are_shown_before_what_is_away_and_that_before_what_is_missing(
    mirror: Site, got: Got, lies_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [f"{mirror.url}/debian", away()]
    first, second = roots if lies_first else reversed(roots)
    monkeypatch.setenv("DEBIAN_MIRROR", first)
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", second)
    mirror.files[DEB] = b"!" * len(BODY)
    with pytest.raises(IntegrityError, match="not the pinned ones"):
        got()
    mirror.files.clear()
    with pytest.raises(FetchError, match="cannot be reached"):
        got()


@pytest.fixture
def carried(
    workspace: Workspace, site: Site, room: Path, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    """Have a machine that knows no mirror; give a checkout whose wheel names folders of `site`."""
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "none"})
    text = SETTINGS.replace("http://a.test", f"{site.url}/current")
    text = text.replace("http://old.test", f"{site.url}/ended")
    body = wheel_with(room, text).read_bytes()
    page = f'<a href="/files/{WHEEL_FILE}#sha256={sha256(body)}">{WHEEL_FILE}</a>'
    site.files |= {"/simple/debops/": page.encode(), f"/files/{WHEEL_FILE}": body}
    settings = PipSettings(index_urls=(f"{site.url}/simple",), retries=0)
    monkeypatch.setattr(places, "pip_settings", lambda: settings)
    monkeypatch.setattr(debian_mirrors, "ended_mirrors", ENDED_MIRRORS)
    checkout = Workspace(room / "checkout", workspace.cache)
    pin = index_file(body, WHEEL_FILE, "debops", "3.3.2")
    write_pins(checkout.sources_lock, Pins(files=(pin,)))
    return checkout


def test_what_the_mirror_dropped_comes_from_the_archive_of_ended_releases(
    carried: Workspace, mirror: Site
) -> None:
    kept, wrong = (deb(b"%s bytes" % n, f"/pool/{n.decode()}.deb") for n in (b"kept", b"wrong"))
    mirror.files[f"/debian/{kept.path}"] = b"kept bytes"
    fetch(carried, [kept])
    assert len(mirror.asked) == 1
    del mirror.files[DEB]
    with pytest.raises(FetchError) as caught:
        fetch(carried, [deb()])
    assert f"is not at: {mirror.url}/debian, {mirror.url}/ended/debian\n" in str(caught.value)
    mirror.files[f"/ended/debian{POOL}"] = BODY
    assert fetch(carried, [deb()])[deb()].read_bytes() == BODY
    mirror.files[f"/ended/debian/{wrong.path}"] = b"other byte!"
    with pytest.raises(IntegrityError, match=r"wrong\.deb.*/ended/debian/pool.*not the pinned"):
        fetch(carried, [wrong])


def test_an_archive_of_ended_releases_that_fails_is_named_with_the_mirror(
    mirror: Site, got: Got, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = away()
    monkeypatch.setattr(debian_mirrors, "ended_mirrors", lambda wheel: (root,))
    del mirror.files[DEB]
    with pytest.raises(FetchError) as caught:
        got()
    message = str(caught.value)
    assert message.startswith(f"foo 1.0 (foo_1.0_amd64.deb) is not at: {mirror.url}/debian\n")
    assert f"{root}{POOL}: 127.0.0.1" in message
    assert "cannot be reached" in message
    assert "DEBIAN_SNAPSHOT_MIRROR" in message


def test_a_mirror_that_is_away_is_not_one_that_dropped_a_file_and_without_any_it_is_said(
    carried: Workspace, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", away())
    with pytest.raises(FetchError, match="cannot be reached"):
        fetch(carried, [deb()])
    assert not site.asked
    monkeypatch.delenv("DEBIAN_MIRROR")
    body = site.files[f"/files/{WHEEL_FILE}"]
    site.files.clear()
    with pytest.raises(FetchError, match=r"(?s)^no mirror of Debian's.*debops.*export DEBIAN_MIR"):
        fetch(carried, [deb()])
    site.files["/simple/debops/"] = f'<a href="/files/{WHEEL_FILE}">{WHEEL_FILE}</a>'.encode()
    site.files[f"/files/{WHEEL_FILE}"] = b"!" * len(body)
    with pytest.raises(FetchError, match=r"(?s)^no mirror of Debian's.*not the pinned ones, twice"):
        fetch(carried, [deb()])


@pytest.mark.parametrize("location", [
    "http://h:99999/", "http://h:port/", "http://[::1/", "http://[half]/x",
    "file:///etc/passwd", "ftp://h/x", "gopher:x", "http://a\x01b/", "http://a\x1b[31mb/",
    "http://a\xff\xfeb/", "http://" + "a" * 300 + "/", "http://.../", "http://h\\@127.0.0.1/",
])  # fmt: skip
def test_a_malformed_redirect_names_the_file_and_the_next_mirror_is_asked(
    mirror: Site, got: Got, second: Site, location: str
) -> None:
    mirror.plans[DEB] = [Answer(302, headers={"Location": location})] * 18
    with pytest.raises(FetchError) as caught:
        got()
    message = str(caught.value)
    assert message.startswith(f"{mirror.url}{DEB}: redirected to ")
    assert "fix:" in message and message.replace("\n", "").isprintable()
    second.files[DEB] = BODY
    assert got() == BODY
    assert second.paths() == [DEB, DEB]


def test_a_redirect_loop_ends_and_the_body_of_a_redirect_is_not_read(
    mirror: Site, got: Got
) -> None:
    mirror.plans[DEB] = [Answer(301, headers={"Location": POOL})] * 99
    mirror.plans[POOL] = [Answer(301, headers={"Location": DEB})] * 99
    with pytest.raises(FetchError, match=rf"^{mirror.url}{DEB}: redirected more than 10"):
        got()
    assert len(mirror.asked) == 11
    mirror.plans[DEB] = [Answer(302, BODY)]
    with pytest.raises(FetchError, match="the server answered 302"):
        got()
    location = {"Location": "../else where/\xc3\xa9"}
    mirror.plans[DEB] = [Answer(302, headers=location, announced=1 << 40)]
    mirror.files["/debian/pool/main/f/else%20where/%C3%A9"] = BODY
    assert got() == BODY


@pytest.mark.parametrize(
    ("address", "location", "target"),
    [
        ("http://a/x/y", "z", "http://a/x/z"),
        ("http://a/x/y", "/z w", "http://a/z%20w"),
        ("https://a/x", "//b/z", "https://b/z"),
        ("http://a/x", "https://b:444/z", "https://b:444/z"),
        ("http://a/x", "HTTP://B/z", "http://B/z"),
        ("http://a/x", "/\xc3\xa9", "http://a/%C3%A9"),
        ("http://me:pw@a/x", "http://a/z", "http://me:pw@a/z"),
        ("http://me:pw@a/x", "https://a/z", "https://me:pw@a/z"),
        ("http://me:pw@a/x", "http://a:81/z", "http://a:81/z"),
        ("https://me:pw@a/x", "http://a/z", "http://a/z"),
    ],
)
def test_a_redirect_leads_to(address: str, location: str, target: str) -> None:
    assert redirect_target(address, address, location, lambda _: True) == target


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("http://b/x", r"(?s)^http://o/x: redirected.*https, as before.*b/x"),
        ("file://me:secret@etc/x?token=secret", "found:    file://etc/x"),
    ],
)
def test_a_refused_address_is_shown_without_its_password(location: str, message: str) -> None:
    with pytest.raises(FetchError, match=message) as caught:
        redirect_target("http://o/x", "https://me:secret@a/x", location, lambda _: False)
    assert "secret" not in str(caught.value)
