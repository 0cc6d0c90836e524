from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from stacks.channel import package, retrieval
from stacks.channel.locked_package import URL, LockedPackage
from stacks.core.disk import sha256_of
from stacks.core.workspace import Workspace
from stacks.sources import channels
from stacks.sources.channels import PublishedChannel, channel_at
from unit.helpers.serving import Answer, Site, closed_port, raw_serving, serving, sha256

BODIES = {"one": b"1" * 5000, "two": b"2" * 7000}


def locked(name: str) -> LockedPackage:
    body, build = BODIES[name], "py_0"
    url = f"{URL}/noarch/{name}-1.0-{build}.conda"
    return LockedPackage(name, "1.0", build, url, sha256(body), "0" * 32, len(body))


PACKAGES = [locked(name) for name in BODIES]
ONE, TWO = (each.file_name for each in PACKAGES)
LOCKED = {each.file_name: each for each in PACKAGES}


@pytest.fixture
def other() -> Iterator[Site]:
    with serving() as site:
        yield site


def fill(
    site: Site, folder: str = "/c/noarch", names: Sequence[str] = (ONE, TWO)
) -> PublishedChannel:
    for name, body in zip((ONE, TWO), BODIES.values(), strict=True):
        if name in names:
            site.files[f"{folder}/{name}"] = body
    return channel_at(f"{site.url}/c", "here")


def retrieve(workspace: Workspace, *places: PublishedChannel) -> dict[str, PublishedChannel]:
    """Return the channel of each package, which is in the cache with its locked bytes."""
    retrieved = retrieval.retrieve(workspace, places, PACKAGES)
    for name, each in retrieved.items():
        assert each.built == package.cached(workspace, name, LOCKED[name].sha256)
    by_name = {place.name: place for place in places}
    return {name: by_name[each.place.name] for name, each in retrieved.items()}


def kept(workspace: Workspace) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in workspace.cache.rglob("*.conda")}


def warnings_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if not line.startswith("fetch")]


def test_packages_come_to_where_built_ones_are(
    workspace: Workspace, room: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fill(site)
    assert retrieve(workspace, place) == {ONE: place, TWO: place}
    for each, body in zip(PACKAGES, BODIES.values(), strict=True):
        built = package.cached(workspace, each.file_name, each.sha256)
        assert built and built.path.read_bytes() == body
        assert built.path.stat().st_mode & 0o777 == 0o444
    assert warnings_of(capsys) == []
    # No part and no empty folder stays.
    assert not [*workspace.cache.glob("sources/sha256/*/*")]


def test_each_package_comes_from_the_first_place_that_has_it(
    workspace: Workspace, room: Path, site: Site, other: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = fill(site, names=[TWO]), fill(other)
    assert retrieve(workspace, first, second) == {ONE: second, TWO: first}
    assert other.paths() == [f"/c/noarch/{ONE}"]
    # A place that lacks a package is not a fault.
    assert warnings_of(capsys) == []


def test_a_place_is_not_asked_when_all_are_there(
    workspace: Workspace, room: Path, site: Site, other: Site
) -> None:
    retrieve(workspace, fill(site), fill(other))
    assert other.paths() == []


def test_wrong_bytes_cost_one_warning_and_are_not_kept(
    workspace: Workspace, room: Path, site: Site, other: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    liar, honest = fill(site), fill(other)
    site.files[f"/c/noarch/{ONE}"] = b"x" * 5000
    site.files[f"/c/noarch/{TWO}"] = b"y" * 9000
    assert retrieve(workspace, liar, honest) == {ONE: honest, TWO: honest}
    assert kept(workspace) == {ONE: BODIES["one"], TWO: BODIES["two"]}
    [warning] = warnings_of(capsys)
    assert warning.startswith("warning: ") and f"{site.url}/c" in warning


def test_wrong_bytes_alone_give_nothing(workspace: Workspace, room: Path, site: Site) -> None:
    place = fill(site)
    site.files[f"/c/noarch/{ONE}"] = b"x" * 5000
    assert retrieve(workspace, place) == {TWO: place}
    assert kept(workspace) == {TWO: BODIES["two"]}
    assert not [*workspace.cache.rglob("*.part")]


def test_a_part_with_wrong_bytes_is_fetched_again(
    workspace: Workspace, room: Path, site: Site, other: Site
) -> None:
    """The first place breaks off in the middle of wrong bytes; the second has the right ones."""
    site.files[f"/c/noarch/{TWO}"] = BODIES["two"]
    cut = Answer(200, b"x" * 1000, announced=5000)
    site.plans[f"/c/noarch/{ONE}"] = [cut, Answer(404)]
    honest = fill(other)
    assert retrieve(workspace, channel_at(f"{site.url}/c", "here"), honest)[ONE] == honest
    assert kept(workspace) == {ONE: BODIES["one"], TWO: BODIES["two"]}


def test_a_dead_place_costs_one_warning(
    workspace: Workspace, room: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = channel_at(f"http://127.0.0.1:{closed_port()}/c", "here")
    living = fill(site)
    assert set(retrieve(workspace, dead, living).values()) == {living}
    [warning] = warnings_of(capsys)
    assert "cannot be reached" in warning


def test_a_silent_place_is_asked_twice_not_for_each_package(
    workspace: Workspace,
    room: Path,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(channels, "TIMEOUT", 0.05)
    asked = []

    def silent(connection: socket.socket) -> None:
        asked.append(connection)
        connection.recv(1)

    living = fill(site)
    with raw_serving(silent) as address:
        assert set(retrieve(workspace, channel_at(address, "here"), living).values()) == {living}
    assert len(asked) in (1, 2)
    assert len(warnings_of(capsys)) == 1


def test_a_missing_folder_is_said(
    workspace: Workspace, room: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert retrieve(workspace, channel_at(str(tmp_path / "none"), "here")) == {}
    assert warnings_of(capsys) == [
        f"warning: {tmp_path / 'none'}: no such folder; the next place is tried"
    ]


def test_a_folder_is_a_place(workspace: Workspace, room: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a folder" / "noarch"
    folder.mkdir(parents=True)
    (folder / ONE).write_bytes(BODIES["one"])
    place = channel_at(str(folder.parent), "here")
    assert retrieve(workspace, place) == {ONE: place}
    assert sha256_of(folder / ONE) == LOCKED[ONE].sha256


def test_a_release_that_exists_is_asked_for_every_package(
    workspace: Workspace, room: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also for those of older locks, which its list no longer names."""
    fill(site, "/r", names=[TWO])
    site.files["/r/index.sha256"] = b""
    place = PublishedChannel(f"{site.url}/r", release=True, configured=False)
    assert retrieve(workspace, place) == {TWO: place}
    assert site.paths()[0] == "/r/index.sha256"
    assert sorted(site.paths()[1:]) == [f"/r/{ONE}", f"/r/{TWO}"]
    assert warnings_of(capsys) == []


@pytest.mark.parametrize("status", [404, 500])
def test_a_repository_without_releases_costs_no_word(
    workspace: Workspace, room: Path, site: Site, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    site.plans["/r/index.sha256"] = [Answer(status)] * 9
    assert (
        retrieve(workspace, PublishedChannel(f"{site.url}/r", release=True, configured=False)) == {}
    )
    assert site.paths() == ["/r/index.sha256"]
    assert warnings_of(capsys) == []


def test_a_release_that_does_not_answer_soon_costs_no_word(
    workspace: Workspace,
    room: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(channels, "LONGEST_LOOKUP", 0.05)

    def silent(connection: socket.socket) -> None:
        connection.recv(1)

    with raw_serving(silent) as address:
        assert retrieve(workspace, PublishedChannel(address, release=True, configured=False)) == {}
    assert warnings_of(capsys) == []
