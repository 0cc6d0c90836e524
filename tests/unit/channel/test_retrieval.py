"""Packages that channels have: which place gives which, and what a fault of one costs."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import package
from stacks.channel.locked_package import URL, LockedPackage
from stacks.core.workspace import Workspace
from stacks.sources.places import Place, channel_at, release_at
from stacks.sources.web import Web
from unit.helpers.serving import Answer, Site, drip, raw_serving, serving, sha256

BODIES = {"one-1.0-py_0.conda": b"1" * 5000, "two-1.0-py_0.conda": b"2" * 7000}
ONE, TWO = BODIES
PACKAGES = [
    LockedPackage(
        name[:3], "1.0", "py_0", f"{URL}/noarch/{name}", sha256(body), "0" * 32, len(body)
    )
    for name, body in BODIES.items()
]
WEB = Web(stop=threading.Event(), timeout=5.0, retries=1)
SILENT = replace(WEB, timeout=0.05, retries=0)
Files = Mapping[str, bytes | list[Answer]]


@pytest.fixture
def other() -> Iterator[Site]:
    with serving() as site:
        yield site


def fill(site: Site, files: Files = BODIES, folder: str = "/c/noarch") -> Place:
    for name, content in files.items():
        if isinstance(content, bytes):
            site.files[f"{folder}/{name}"] = content
        else:
            site.plans[f"{folder}/{name}"] = content
    return channel_at(f"{site.url}/c", "here", WEB)


def retrieve(workspace: Workspace, *places: Place) -> dict[str, int]:
    """Return the number of the place of each package, which is in the cache as it is locked."""
    retrieved = package.retrieve(workspace, places, PACKAGES)
    for name, (_, built) in retrieved.items():
        assert built == package.cached(workspace, name, sha256(BODIES[name]))
        assert built.path.stat().st_mode & 0o777 == 0o444
    kept = {path.name: path.read_bytes() for path in workspace.cache.rglob("*.conda")}
    assert kept == {name: BODIES[name] for name in retrieved}
    assert not [*workspace.cache.rglob("*.part")]
    names = [place.name for place in places]
    return {name: names.index(place) for name, (place, _) in retrieved.items()}


def warnings_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if not line.startswith("fetch")]


@pytest.mark.parametrize(
    ("first", "second", "found", "warning"),
    [
        # Nothing is asked of a place that is not needed.
        (BODIES, BODIES, {ONE: 0, TWO: 0}, None),
        # A place that lacks a package is not a fault.
        ({TWO: BODIES[TWO]}, BODIES, {ONE: 1, TWO: 0}, None),
        ({ONE: b"x" * 5000, TWO: b"y" * 9000}, BODIES, {ONE: 1, TWO: 1}, "warning: .*URL/c"),
        ({**BODIES, ONE: b"x" * 5000}, {}, {TWO: 0}, "warning: .*URL/c"),
        # It breaks off in the middle of wrong bytes; the other has the right ones.
        (
            {**BODIES, ONE: [Answer(200, b"x" * 1000, announced=5000), Answer(404)]},
            BODIES,
            {ONE: 1, TWO: 0},
            "",
        ),
    ],
)
def test_each_package_comes_from_the_first_place_that_has_its_bytes(
    first: Files,
    second: Files,
    found: dict[str, int],
    warning: str | None,
    workspace: Workspace,
    room: Path,
    site: Site,
    other: Site,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert retrieve(workspace, fill(site, first), fill(other, second)) == found
    missing = [f"/c/noarch/{name}" for name in BODIES if found.get(name) != 0]
    assert sorted({*other.paths()}) == missing
    warnings = warnings_of(capsys)
    if warning is None:
        assert warnings == []
    elif warning:
        [line] = warnings
        assert re.match(warning.replace("URL", re.escape(site.url)), line)


def test_a_silent_place_costs_one_warning(
    workspace: Workspace, room: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    with raw_serving(drip(b"", b"", seconds=0.5)) as address:
        place = channel_at(address, "here", SILENT)
        assert retrieve(workspace, place, fill(site)) == {ONE: 1, TWO: 1}
    [warning] = warnings_of(capsys)
    assert "no answer in time" in warning


def test_a_folder_is_a_place_and_a_missing_one_is_named(
    workspace: Workspace, room: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a folder" / "noarch"
    folder.mkdir(parents=True)
    (folder / ONE).write_bytes(BODIES[ONE])
    paths = (tmp_path / "none", folder.parent)
    none, place = (channel_at(str(path), "here", WEB) for path in paths)
    assert retrieve(workspace, none, place) == {ONE: 1}
    line = f"warning: {tmp_path / 'none'}: no such folder; the next place is tried"
    assert warnings_of(capsys) == [line]


def test_a_release_that_exists_is_asked_for_every_package(
    workspace: Workspace, room: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also for those of older locks, which its list no longer names."""
    fill(site, {TWO: BODIES[TWO], "index.sha256": b""}, "/r")
    assert retrieve(workspace, release_at(f"{site.url}/r", WEB)) == {TWO: 0}
    assert site.paths()[0] == "/r/index.sha256"
    assert sorted(site.paths()[1:]) == [f"/r/{ONE}", f"/r/{TWO}"]
    assert warnings_of(capsys) == []


@pytest.mark.parametrize("status", [404, 500, None])
def test_releases_that_do_not_exist_or_answer_soon_cost_no_word(
    workspace: Workspace,
    room: Path,
    site: Site,
    capsys: pytest.CaptureFixture[str],
    status: int | None,
) -> None:
    if status:
        fill(site, {"index.sha256": [Answer(status)] * 9}, "/r")
        assert retrieve(workspace, release_at(f"{site.url}/r", replace(WEB, retries=0))) == {}
        assert site.paths() == ["/r/index.sha256"]
    else:
        with raw_serving(drip(b"", b"", seconds=0.5)) as address:
            assert retrieve(workspace, release_at(address, SILENT)) == {}
    assert warnings_of(capsys) == []
