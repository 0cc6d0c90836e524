"""Which files are pinned; `pin --alive`: which place still has each, and what a user must know."""

import json
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, ScarceError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks.texts import requirements_of
from stacks.project import pinned
from stacks.sources import debian_mirrors, places
from stacks.sources.package_index import PipSettings
from stacks.sources.pins import (
    DebPin,
    IndexPin,
    LockedPackage,
    Pins,
    cached_path,
    read_pins,
    write_pins,
)
from stacks.sources.places import LIST, channel_at, release_at
from stacks.sources.web import Web
from stacks.variants.load import all_variants
from unit.helpers.serving import Site, closed_port, sha256

BAR, FOO = (f"/one/pool/bullseye-{name}.deb" for name in ("libbar", "libfoo"))


def deb_of(suite: str, name: str, body: bytes) -> DebPin:
    path, digest = f"pool/{suite}-{name}.deb", sha256(body)
    return DebPin(suite=suite, name=name, version="1", path=path, size=len(body), sha256=digest)


@pytest.fixture
def pins() -> Pins:
    wheel = IndexPin(name="foo", version="1", filename="foo-1.whl", size=1, sha256=sha256(b"w"))
    debs = (
        deb_of("bullseye", "libbar", b"bar"),
        deb_of("bullseye", "libfoo", b"foo"),
        deb_of("forky", "libbaz", b"baz"),
    )
    return Pins(debs, (wheel,), (deb_of("forky", "baz", b"baz.dsc"),))


@pytest.fixture
def own(tmp_path: Path, room: Path, pins: Pins) -> Workspace:
    workspace = Workspace(tmp_path / "own", tmp_path / "cache")
    workspace.recipes.mkdir(parents=True)
    write_pins(workspace.sources_lock, pins)
    return workspace


@pytest.fixture
def full(site: Site, pins: Pins, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Give a server with everything, as two mirrors and two indexes."""
    every = (*pins.debs, *pins.sources)
    bodies = dict(zip(every, (b"bar", b"foo", b"baz", b"baz.dsc"), strict=True))
    for root in ("/one", "/two"):
        site.files |= {f"{root}/{pin.path}": body for pin, body in bodies.items()}
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


def rows(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_two_places_for_each_are_enough(
    own: Workspace, full: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.json", "b.json"):
        pinned.report(own, path=tmp_path / name)
    assert rows(capsys.readouterr().out)[:5] == [
        "pinned files 2 places or more 1 place none",
        "debs of bullseye 2 2 0 0",
        "debs of forky 1 1 0 0",
        "source packages of forky 1 1 0 0",
        "files of the package index 1 1 0 0",
    ]
    # It has no clock and no order of its own.
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_what_is_at_one_place_or_none_is_named(
    own: Workspace, full: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (FOO, "/one/foo/", "/two/foo/"):
        del full.files[path]
    message = r"2 pinned files.*\n.*\n.*1 at one place, 1 at none"
    with pytest.raises(ScarceError, match=message) as caught:
        pinned.report(own, path=tmp_path / "report.json")
    assert caught.value.exit_code == 4
    assert rows(capsys.readouterr().out)[-3:] == [
        "file its only place",
        f"bullseye/libfoo 1 {full.url}/two",
        "foo-1.whl none",
    ]
    groups = {g["name"]: g for g in json.loads((tmp_path / "report.json").read_text())["groups"]}
    bar, foo = groups["debs of bullseye"]["files"]
    assert bar["places"] == [f"{full.url}/one", f"{full.url}/two"]
    assert foo["places"] == [f"{full.url}/two"] and foo["sha256"] == sha256(b"foo")


def test_what_a_reader_must_know(
    own: Workspace, full: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    full.files[FOO] = b"a page"
    with pytest.raises(ScarceError):
        pinned.report(own)
    assert "answers with 6 bytes; pinned are 3" in capsys.readouterr().out
    # A whole class at one place is one line.
    del full.files[FOO], full.files[BAR]
    with pytest.raises(ScarceError):
        pinned.report(own)
    assert "all 2 debs of bullseye" in capsys.readouterr().out


def test_a_dead_mirror_is_named_and_does_not_count(
    own: Workspace, full: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = f"http://127.0.0.1:{closed_port()}"
    mirrors(monkeypatch, dead, f"{full.url}/two")
    with pytest.raises(ScarceError, match="4 pinned files"):
        pinned.report(own)
    out = capsys.readouterr().out
    assert f"{dead} was not asked to the end: " in out and "cannot be reached" in out
    # The archive of ended releases is a place, too.
    ended = f"{full.url}/one"
    with monkeypatch.context() as patch:
        patch.setattr(debian_mirrors, "ended_mirrors", lambda _: (ended,))
        pinned.report(own)
    capsys.readouterr()
    # No network is no news of the files.
    mirrors(monkeypatch, dead)
    indexes(monkeypatch, dead)
    with pytest.raises(FetchError, match="none of 2 places answers") as caught:
        pinned.report(own)
    assert caught.value.exit_code == 1
    assert capsys.readouterr().out == ""


def package(name: str) -> LockedPackage:
    url, sha = f"c/linux-64/{name}-1-0.conda", sha256(name.encode())
    return LockedPackage(name, "1", "0", url, sha, "0" * 32, len(name))


def test_published_packages_stand_for_their_sources(
    own: Workspace,
    full: Site,
    pins: Pins,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", "")
    made, lacking = package("made"), package("lacking")
    web = Web(stop=threading.Event(), retries=0)
    places = [channel_at(f"{full.url}/channel", "", web), release_at(f"{full.url}/releases", web)]
    monkeypatch.setattr(pinned, "published_places", lambda *_: places)
    sources = dict.fromkeys(pins.debs[:2], frozenset([made]))
    # The source of a package that the channel lacks is still needed.
    sources[pins.debs[2]] = frozenset([made, lacking])
    monkeypatch.setattr(pinned, "packages_by_source", lambda *_: sources)
    full.files[f"/channel/linux-64/{made.filename}"] = b"made"
    with pytest.raises(ScarceError):
        pinned.report(own)
    assert rows(capsys.readouterr().out)[1:5] == [
        "debs of bullseye 2 2 0 0",
        "debs of forky 1 0 1 0",
        "source packages of forky 1 0 1 0",
        "files of the package index 1 1 0 0",
    ]
    # That of releases, which nobody configured and which does not exist, is asked once.
    assert [path for path in full.paths() if "releases" in path] == [f"/releases/{LIST}"]


def test_a_vendored_folder_is_a_place(
    own: Workspace, full: Site, pins: Pins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANO_STACKS_VENDOR", str(tmp_path / "vendored"))
    monkeypatch.setattr(pinned, "packages_by_source", lambda *_: {})
    del full.files[FOO]
    kept = cached_path(tmp_path / "vendored", pins.deb("bullseye", "libfoo"))
    kept.parent.mkdir(parents=True)
    for content, ended in ((b"fo", pytest.raises(ScarceError)), (b"foo", nullcontext())):
        kept.write_bytes(content)
        with ended:
            pinned.report(own)


def test_the_packages_of_the_locks_by_their_sources(workspace: Workspace) -> None:
    pins = read_pins(workspace.sources_lock)
    found = pinned.packages_by_source(workspace, pins)
    made = {(pin.name, package.name) for pin, packages in found.items() for package in packages}
    assert {("libpython2.7-stdlib", "python"), ("g++-10", "amdlibm-compat")} <= made
    # What pip installs is needed as it is.
    direct = {pin for each in all_variants(workspace) for pin in requirements_of(each, pins)}
    assert direct and found.keys().isdisjoint(direct)
    for package in {package for packages in found.values() for package in packages}:
        assert package.size > 1000 and package.urls[0].endswith(f"/{package.filename}")


pytestmark = pytest.mark.usefixtures("room")


def test_the_pins_are_exactly_those_of_the_recipes_and_of_suites_that_these_take(
    workspace: Workspace,
) -> None:
    debs, files = pinned.required_sources(workspace)
    pins = read_pins(workspace.sources_lock)
    packages = {(deb.suite, deb.name) for deb in debs if not deb.is_source}
    assert packages == {(pin.suite, pin.name) for pin in pins.debs}
    assert {file.file for file in files} == {pin.filename for pin in pins.files}
    with pytest.raises(UsageError, match=r"(?s)--expired: no recipe takes debs of sarge.*bookworm"):
        pinned.pin(workspace, expired={"sarge"})
