from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources import debian_mirrors, places
from stacks.sources.debian_mirrors import WHEEL_FILE
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import PipSettings
from stacks.sources.pins import DebPin, IndexPin, Pins, write_pins
from unit.helpers.debops import SETTINGS, wheel_with
from unit.helpers.serving import BODY, POOL, Site, closed_port, deb, sha256

pytestmark = pytest.mark.usefixtures("room")
# The fixture `room` has another one in its place.
ENDED_MIRRORS = debian_mirrors.ended_mirrors


def test_one_file_in_two_suites_is_fetched_once(workspace: Workspace, mirror: Site) -> None:
    other = DebPin(**{**vars(deb()), "suite": "bookworm"})
    assert len(fetch(workspace, [deb(), other])) == 2
    assert len(mirror.asked) == 1


def test_a_file_is_read_only_in_the_cache(workspace: Workspace, mirror: Site) -> None:
    [path] = fetch(workspace, [deb()]).values()
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_many_files_come_in_one_go(workspace: Workspace, mirror: Site) -> None:
    pins = []
    for number in range(30):
        body = b"%d" % number * 1000
        pins.append(deb(body, f"/pool/{number}_1.0_amd64.deb"))
        mirror.files[f"/debian/pool/{number}_1.0_amd64.deb"] = body
    assert [path.stat().st_size for path in fetch(workspace, pins).values()] == [
        pin.size for pin in pins
    ]


def test_a_dropped_version_comes_from_the_snapshot_mirror(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    del mirror.files[f"/debian{POOL}"]
    mirror.files[f"/2025/{POOL.lstrip('/')}"] = BODY
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{mirror.url}/2025/")
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


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


def test_wrong_bytes_at_one_mirror_and_right_ones_at_the_next(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.files[f"/debian{POOL}"] = b"!" * len(BODY)
    mirror.files[f"/other{POOL}"] = BODY
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{mirror.url}/other")
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


@pytest.mark.parametrize("lies_first", [True, False])
def test_wrong_bytes_are_shown_before_what_is_away_and_that_before_what_is_missing(
    workspace: Workspace, mirror: Site, lies_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, living = f"http://127.0.0.1:{closed_port()}/debian", f"{mirror.url}/debian"
    first, second = (living, away) if lies_first else (away, living)
    monkeypatch.setenv("DEBIAN_MIRROR", first)
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", second)
    mirror.files[f"/debian{POOL}"] = b"!" * len(BODY)
    with pytest.raises(IntegrityError, match="not the pinned ones"):
        fetch(workspace, [deb()])
    mirror.files.clear()
    with pytest.raises(FetchError, match="cannot be reached"):
        fetch(workspace, [deb()])


@pytest.fixture
def bare(room: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a machine that knows no mirror; give the folder that it would know them from."""
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr(debian_mirrors, "APT", room / "apt")
    return room


def carried(
    workspace: Workspace, site: Site, room: Path, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    """Have a package index with a wheel that names two folders of `site`; give its checkout."""
    text = SETTINGS.replace("http://a.test", f"{site.url}/current")
    text = text.replace("http://old.test", f"{site.url}/ended")
    body = wheel_with(room, text).read_bytes()
    page = f'<a href="/files/{WHEEL_FILE}#sha256={sha256(body)}">{WHEEL_FILE}</a>'
    site.files["/simple/debops/"] = page.encode()
    site.files[f"/files/{WHEEL_FILE}"] = body
    settings = PipSettings(index_urls=(f"{site.url}/simple",), retries=0)
    monkeypatch.setattr(places, "pip_settings", lambda: settings)
    monkeypatch.setattr(debian_mirrors, "ended_mirrors", ENDED_MIRRORS)
    checkout = Workspace(room / "checkout", workspace.cache)
    pin = IndexPin(
        name="debops", version="3.3.2", filename=WHEEL_FILE, size=len(body), sha256=sha256(body)
    )
    write_pins(checkout.sources_lock, Pins(files=(pin,)))
    return checkout


def test_on_a_machine_without_a_mirror_the_pinned_wheel_names_one(
    workspace: Workspace, site: Site, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = carried(workspace, site, bare, monkeypatch)
    site.files[f"/current/debian{POOL}"] = BODY
    assert fetch(checkout, [deb()])[deb()].read_bytes() == BODY
    assert site.paths() == ["/simple/debops/", f"/files/{WHEEL_FILE}", f"/current/debian{POOL}"]


def test_what_the_mirror_dropped_comes_from_the_archive_of_ended_releases(
    workspace: Workspace, mirror: Site, room: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", f"{mirror.url}/debian")
    checkout = carried(workspace, mirror, room, monkeypatch)
    kept = deb(b"kept", "/pool/kept_1.0_amd64.deb")
    mirror.files[f"/debian/{kept.path}"] = b"kept"
    fetch(checkout, [kept])
    assert len(mirror.asked) == 1
    mirror.files[f"/ended/debian{POOL}"] = mirror.files.pop(f"/debian{POOL}")
    assert fetch(checkout, [deb()])[deb()].read_bytes() == BODY
    wrong = deb(b"other bytes", "/pool/wrong_1.0_amd64.deb")
    mirror.files[f"/ended/debian/{wrong.path}"] = b"wrong bytes"
    with pytest.raises(IntegrityError, match=r"wrong_1\.0.*/ended/debian/pool.*not the pinned"):
        fetch(checkout, [wrong])


def test_the_archive_of_ended_releases_is_named_where_it_lacks_a_file(
    workspace: Workspace, mirror: Site, room: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", f"{mirror.url}/debian")
    checkout = carried(workspace, mirror, room, monkeypatch)
    mirror.files.pop(f"/debian{POOL}")
    with pytest.raises(FetchError) as caught:
        fetch(checkout, [deb()])
    assert f"is not at: {mirror.url}/debian, {mirror.url}/ended/debian\n" in str(caught.value)


def test_an_archive_of_ended_releases_that_fails_is_named_with_the_mirror(
    workspace: Workspace, mirror: Site, room: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", f"{mirror.url}/debian")
    away = f"http://127.0.0.1:{closed_port()}/debian"
    ended = (debian_mirrors.Mirror(away, "a test"),)
    monkeypatch.setattr(debian_mirrors, "ended_mirrors", lambda wheel: ended)
    mirror.files.pop(f"/debian{POOL}")
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [deb()])
    message = str(caught.value)
    assert message.startswith(f"foo 1.0 (foo_1.0_amd64.deb) is not at: {mirror.url}/debian\n")
    assert f"{away}{POOL}: 127.0.0.1" in message
    assert "cannot be reached" in message
    assert "DEBIAN_SNAPSHOT_MIRROR" in message


def test_a_mirror_that_is_away_is_not_one_that_dropped_a_file(
    workspace: Workspace, site: Site, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = carried(workspace, site, bare, monkeypatch)
    monkeypatch.setenv("DEBIAN_MIRROR", f"http://127.0.0.1:{closed_port()}/debian")
    with pytest.raises(FetchError, match="cannot be reached"):
        fetch(checkout, [deb()])
    assert not site.asked


def test_no_mirror_and_no_wheel(
    workspace: Workspace, site: Site, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = carried(workspace, site, bare, monkeypatch)
    body = site.files[f"/files/{WHEEL_FILE}"]
    site.files.clear()
    with pytest.raises(FetchError, match=r"(?s)^no mirror of Debian's.*debops.*export DEBIAN_MIR"):
        fetch(checkout, [deb()])
    site.files["/simple/debops/"] = f'<a href="/files/{WHEEL_FILE}">{WHEEL_FILE}</a>'.encode()
    site.files[f"/files/{WHEEL_FILE}"] = b"!" * len(body)
    with pytest.raises(FetchError, match=r"(?s)^no mirror of Debian's.*not the pinned ones, twice"):
        fetch(checkout, [deb()])


def test_a_mirror_can_be_a_folder(
    workspace: Workspace, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = room / "a folder" / POOL.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_bytes(BODY)
    monkeypatch.setenv("DEBIAN_MIRROR", (room / "a folder").as_uri())
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    file.unlink()
    with pytest.raises(FetchError, match="is not at: file:"):
        fetch(workspace, [deb(b"other")])
