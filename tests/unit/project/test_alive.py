from __future__ import annotations

import json
import threading
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlencode

import pytest

from stacks.core.errors import FetchError, ScarceError
from stacks.core.workspace import Workspace
from stacks.project import alive
from stacks.project.alive import BUILT, Published, published, with_packages
from stacks.sources import debian_mirrors, places
from stacks.sources.channels import LIST, PublishedChannel, channel_at
from stacks.sources.debian_release import PACKAGE
from stacks.sources.debian_release import TABLE as TABLE_PATH
from stacks.sources.mirrors import PipSettings, vendored_path
from stacks.sources.pins import CondaPin, DebPin, IndexPin, Pins, read_pins, write_pins
from stacks.sources.places import Holdings, survey
from stacks.sources.web import Web
from unit.helpers.archives import deb as packed_deb
from unit.helpers.archives import member
from unit.helpers.serving import Answer, Site, closed_port, deb, serving, sha256

TABLE = b"""\
version,codename,series,created,release,eol,eol-lts
11,Bullseye,bullseye,2019-07-06,2021-08-14,2024-08-14,2026-08-31
12,Bookworm,bookworm,2021-08-14,2023-06-10,2026-07-11,2028-06-30
14,Forky,forky,2025-08-09
"""
NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


def pinned(suite: str, name: str, body: bytes) -> DebPin:
    path = f"pool/{suite}-{name}.deb"
    return DebPin(
        suite=suite, name=name, version="1", path=path, size=len(body), sha256=sha256(body)
    )


@pytest.fixture
def table(tmp_path: Path) -> bytes:
    return packed_deb(tmp_path / "table.deb", (member(f"./{TABLE_PATH}"), TABLE)).read_bytes()


@pytest.fixture
def pins(table: bytes) -> Pins:
    wheel = IndexPin(name="foo", version="1", filename="foo-1.whl", size=1, sha256=sha256(b"w"))
    debs = (
        pinned("bookworm", PACKAGE, table),
        pinned("bullseye", "libbar", b"bar"),
        pinned("bullseye", "libfoo", b"foo"),
        pinned("forky", "libbaz", b"baz"),
    )
    return Pins(debs, (wheel,))


@pytest.fixture
def own(tmp_path: Path, room: Path, pins: Pins) -> Workspace:
    workspace = Workspace(tmp_path / "own", tmp_path / "cache")
    workspace.recipes.mkdir(parents=True)
    write_pins(workspace.sources_lock, pins)
    return workspace


@pytest.fixture
def full(
    site: Site, own: Workspace, pins: Pins, table: bytes, monkeypatch: pytest.MonkeyPatch
) -> Site:
    """Give a server with everything, as two mirrors and two indexes."""
    bodies = dict(zip(pins.debs, (table, b"bar", b"foo", b"baz"), strict=True))
    for root in ("/one", "/two"):
        for pin, body in bodies.items():
            site.files[f"{root}/{pin.path}"] = body
        site.files[f"{root}/foo/"] = b'<a href="foo-1.whl">x</a>'
        site.files[f"{root}/foo/foo-1.whl"] = b"w"
    indexes(monkeypatch, f"{site.url}/one", f"{site.url}/two")
    mirrors(monkeypatch, f"{site.url}/one", f"{site.url}/two")
    return site


def indexes(monkeypatch: pytest.MonkeyPatch, *urls: str) -> None:
    settings = PipSettings(index_urls=urls, retries=0)
    monkeypatch.setattr(places, "pip_settings", lambda: settings)


def mirrors(monkeypatch: pytest.MonkeyPatch, first: str, second: str = "") -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", first)
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", second)


def report(own: Workspace, path: Path | None = None) -> None:
    alive.report(own, path=path, now=NOW)


def rows(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_two_places_for_each_are_enough(
    own: Workspace, full: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.json", "b.json"):
        report(own, tmp_path / name)
    assert rows(capsys.readouterr().out)[:5] == [
        "pinned dropped soon? files 2 places or more 1 place none",
        "debs of bookworm 1 1 0 0",
        "debs of bullseye support ended 2026-08-31 2 2 0 0",
        "debs of forky not released: its files change every day 1 1 0 0",
        "files of the package index 1 1 0 0",
    ]
    # It has no clock and no order of its own.
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_what_is_at_one_place_or_none_is_named(
    own: Workspace, full: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in ("/one/pool/bullseye-libfoo.deb", "/one/foo/", "/two/foo/"):
        del full.files[path]
    with pytest.raises(
        ScarceError, match=r"2 pinned files.*\n.*\n.*1 at one place, 1 at none"
    ) as caught:
        report(own, tmp_path / "report.json")
    assert caught.value.exit_code == 4
    assert rows(capsys.readouterr().out)[-3:] == [
        "file its only place",
        f"bullseye/libfoo 1 {full.url}/two",
        "foo-1.whl none",
    ]
    groups = {g["name"]: g for g in json.loads((tmp_path / "report.json").read_text())["groups"]}
    assert groups["debs of bullseye"]["dropped_soon"] == ["support ended 2026-08-31"]
    bar, foo = groups["debs of bullseye"]["files"]
    assert bar["places"] == [f"{full.url}/one", f"{full.url}/two"]
    assert foo["places"] == [f"{full.url}/two"] and foo["sha256"] == sha256(b"foo")


EXPIRED = b"Suite: testing\nValid-Until: Fri, 06 Nov 2026 20:00:00 UTC\n"
FOO = "/one/pool/bullseye-libfoo.deb"
SUITES = f"pool/bookworm-{PACKAGE}.deb"


@pytest.mark.parametrize(
    ("changes", "scarce", "line"),
    [
        # A whole class at one place is one line.
        ({FOO: None, "/one/pool/bullseye-libbar.deb": None}, True, "all 2 debs of bullseye"),
        ({"/two/dists/forky/InRelease": EXPIRED}, False, "expired 2026-11-06 at URL/two"),
        # Without the table of suites the places are still shown.
        ({f"/one/{SUITES}": None, f"/two/{SUITES}": None}, True, "end of support unknown"),
        ({FOO: b"a page"}, True, "answers with 6 bytes; pinned are 3"),
    ],
)
def test_what_a_reader_must_know(
    changes: dict[str, bytes | None],
    scarce: bool,
    line: str,
    own: Workspace,
    full: Site,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for path, content in changes.items():
        if content is None:
            del full.files[path]
        else:
            full.files[path] = content
    with pytest.raises(ScarceError) if scarce else nullcontext():
        report(own)
    printed = capsys.readouterr()
    assert line.replace("URL", full.url) in printed.out
    assert ("the ends of support are unknown" in printed.err) is ("unknown" in line)


def test_a_support_that_ends_within_half_a_year_is_named(
    own: Workspace, full: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    alive.report(own, now=datetime(2028, 3, 1, tzinfo=timezone.utc))
    assert "debs of bookworm support ends 2028-06-30 1 1 0 0" in rows(capsys.readouterr().out)


def test_a_dead_mirror_is_named_and_does_not_count(
    own: Workspace, full: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = f"http://127.0.0.1:{closed_port()}"
    mirrors(monkeypatch, dead, f"{full.url}/two")
    with pytest.raises(ScarceError, match="4 pinned files"):
        report(own)
    out = capsys.readouterr().out
    assert f"{dead} was not asked to the end: " in out and "cannot be reached" in out
    # No network is no news of the files.
    mirrors(monkeypatch, dead)
    indexes(monkeypatch, dead)
    with pytest.raises(FetchError, match="none of 2 places answers") as caught:
        report(own)
    assert caught.value.exit_code == 1
    assert capsys.readouterr().out == ""


def test_two_servers_are_asked_each_for_itself(
    own: Workspace, full: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as second:
        second.files = {k.removeprefix("/two"): v for k, v in full.files.items()}
        mirrors(monkeypatch, f"{full.url}/one", second.url)
        report(own)
        assert second.heads == 4


def test_the_archive_of_ended_releases_is_a_place(
    own: Workspace, full: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", "")
    with pytest.raises(ScarceError):
        report(own)
    ended = debian_mirrors.Mirror(f"{full.url}/two", "a test")
    monkeypatch.setattr(debian_mirrors, "ended_mirrors", lambda _: (ended,))
    report(own)


def test_published_packages_stand_for_their_sources(
    own: Workspace,
    full: Site,
    pins: Pins,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", "")
    file = "linux-64/made-1-0.conda"
    package = CondaPin(
        name="made", version="1", filename=file[9:], size=4, sha256=sha256(b"made"), urls=(file,)
    )

    def published(workspace: Workspace, pins: Pins, web: Web) -> Published:
        place = channel_at(f"{full.url}/channel", "here").place(web)
        return Published((place,), (package,), {package: pins.debs[1:3]})

    monkeypatch.setattr(alive, "published", published)
    full.files[f"/channel/{file}"] = b"made"
    with pytest.raises(ScarceError):
        report(own)
    assert rows(capsys.readouterr().out)[1:6] == [
        "debs of bookworm 1 0 1 0",
        "debs of bullseye support ended 2026-08-31 2 2 0 0",
        "debs of forky not released: its files change every day 1 0 1 0",
        "files of the package index 1 1 0 0",
        "packages made of these 1 1 0 0",
    ]


def test_a_vendored_folder_is_a_place_for_source_packages_too(
    own: Workspace,
    full: Site,
    pins: Pins,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "vendored"
    monkeypatch.setenv("THEANO_STACKS_VENDOR", str(folder))
    monkeypatch.setattr(alive, "published", lambda *_: Published())
    source = pinned("bookworm", "bar", b"bar_1.dsc")
    write_pins(own.sources_lock, replace(pins, sources=(source,)))
    full.files[f"/one/{source.path}"] = b"bar_1.dsc"
    del full.files[FOO]
    for pin, body in ((source, b"bar_1.dsc"), (pins.deb("bullseye", "libfoo"), b"fo")):
        kept = vendored_path(folder, pin)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(body)
    with pytest.raises(ScarceError, match="1 pinned file "):
        report(own)
    kept.write_bytes(b"foo")
    report(own)
    assert "source packages of bookworm 1 1 0 0" in rows(capsys.readouterr().out)


FIRST, SECOND, OTHER = (deb(path=f"pool/{name}.deb") for name in "abc")


def package(name: str) -> CondaPin:
    file = f"{name}-1-0.conda"
    return CondaPin(
        name=name,
        version="1",
        filename=file,
        size=1,
        sha256=sha256(name.encode()),
        urls=(f"linux-64/{file}",),
    )


ONE, TWO, OWN, UNKNOWN = map(package, ("one", "two", "own", "unknown"))
PUBLISHED = Published(
    packages=(ONE, TWO, OWN, UNKNOWN), sources={ONE: (FIRST, SECOND), TWO: (SECOND,), OWN: ()}
)


@pytest.mark.parametrize(
    ("held", "direct", "counted"),
    [
        ({ONE, TWO}, set(), {ONE, TWO, FIRST, SECOND}),
        # The source of a package that the channel lacks is still needed.
        ({ONE}, set(), {ONE, FIRST}),
        # What pip installs is needed as it is.
        ({ONE, TWO}, {FIRST}, {ONE, TWO, SECOND}),
    ],
)
def test_a_channel_stands_for_the_sources_of_all_its_packages(
    held: set[CondaPin], direct: set[DebPin], counted: set[CondaPin | DebPin]
) -> None:
    published = replace(PUBLISHED, direct=frozenset(direct))
    channel, _ = with_packages([Holdings("c", frozenset(held))], published)
    assert channel.held == counted


def test_a_package_can_be_built_while_its_sources_are_somewhere() -> None:
    holdings = [Holdings("a", frozenset({FIRST})), Holdings("b", frozenset({SECOND, OTHER}))]
    *unchanged, built = with_packages(holdings, PUBLISHED)
    assert unchanged == holdings
    # OWN is made of the checkout alone; no recipe makes UNKNOWN.
    assert built == Holdings(BUILT, frozenset({ONE, TWO, OWN}))
    *_, built = with_packages(holdings[:1], PUBLISHED)
    assert built.held == {OWN}


def web() -> Web:
    return Web(stop=threading.Event(), retries=0)


@pytest.mark.usefixtures("room")
def test_without_a_channel_no_lock_is_read(tmp_path: Path) -> None:
    empty = Workspace(tmp_path / "empty", tmp_path / "cache")
    assert published(empty, Pins(), web()) == Published()


@pytest.mark.usefixtures("room")
def test_a_configured_channel_has_the_packages_of_the_locks(
    workspace: Workspace, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = channel_at(f"{site.url}/c", "x")
    monkeypatch.setattr(alive, "published_channels", lambda _: (channel,))
    found = published(workspace, read_pins(workspace.sources_lock), web())
    names = [pin.filename for pin in found.packages]
    assert len(names) == len(set(names)) and all(pin.size > 1000 for pin in found.packages)
    [python] = [p for p in found.packages if p.name == "python" and p.version.startswith("2")]
    assert python.urls == (f"linux-64/{python.filename}",)
    assert {pin.name for pin in found.sources[python]} >= {"libpython2.7-stdlib"}
    [compiled] = [pin for pin in found.packages if pin.name == "amdlibm-compat"]
    assert {pin.name for pin in found.sources[compiled]} >= {"g++-10"}
    installed = {pin.name for pin in found.direct}
    assert {"numpy", "scipy", "theano"} <= installed and "pocl-binary-distribution" not in installed
    first, second, *_ = found.packages
    site.files[f"/c/{first.urls[0]}"] = bytes(first.size)
    site.files[f"/c/{second.urls[0]}"] = b"another file"
    (holdings,) = survey(found.places, found.packages, threading.Event())
    assert holdings.place == f"{site.url}/c"
    assert holdings.held == {first} and holdings.problems.keys() == {second}


@pytest.mark.usefixtures("room")
def test_releases_that_do_not_exist_are_asked_once(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = PublishedChannel(f"{site.url}/releases", release=True, configured=False)
    monkeypatch.setattr(alive, "published_channels", lambda _: (place,))
    empty = Workspace(tmp_path / "empty", tmp_path / "cache")
    assert published(empty, Pins(), web()) == Published()
    assert site.paths() == [f"/releases/{LIST}"]


@pytest.mark.usefixtures("room")
def test_a_registry_is_asked_with_its_token(
    workspace: Workspace, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"oci+{site.url}/me/channel"
    channel = channel_at(address, "x")
    monkeypatch.setattr(alive, "published_channels", lambda _: (channel,))
    pins = read_pins(workspace.sources_lock)
    found = published(workspace, pins, web())
    package = found.packages[0]
    repository = f"me/channel/{package.urls[0].partition('/')[0]}/{package.name}"
    path = f"/v2/{repository}/blobs/sha256:{package.sha256}"
    challenge = {"WWW-Authenticate": f'Bearer realm="{site.url}/token"'}
    site.plans[path] = [Answer(401, headers=challenge)]
    site.files[path] = bytes(package.size)
    site.files[f"/token?{urlencode({'scope': f'repository:{repository}:pull'})}"] = (
        b'{"token": "open"}'
    )
    (holdings,) = survey(found.places, [package], threading.Event())
    assert holdings.held == {package}
    assert site.asked[-1].headers["authorization"] == "Bearer open"
    assert site.asked[-1].path == path and site.heads == 2
