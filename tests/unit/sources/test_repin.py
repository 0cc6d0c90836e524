from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources import repin as repin_module
from stacks.sources.mirrors import PipSettings
from stacks.sources.pins import DebPin, IndexPin, Pins, cached_path
from stacks.sources.repin import FileRequest, difference, repin
from unit.helpers.serving import BODY, SECRET, Site, sha256

WHEEL = "foo-1.0-py3-none-any.whl"


@pytest.fixture
def index(site: Site, room: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    address = site.url.replace("//", f"//me:{SECRET}@")
    settings = PipSettings(index_urls=(f"{address}/simple",))
    monkeypatch.setattr(repin_module, "pip_settings", lambda: settings)
    offer(site, sha256(BODY))
    site.files[f"/simple/foo/{WHEEL}"] = BODY
    return site


def offer(site: Site, digest: str | None) -> None:
    fragment = f"#sha256={digest}" if digest else ""
    site.files["/simple/foo/"] = f'<a href="{WHEEL}{fragment}">{WHEEL}</a>'.encode()


PINNED = IndexPin(name="foo", version="1.0", filename=WHEEL, size=len(BODY), sha256=sha256(BODY))


@pytest.mark.parametrize("digest", [sha256(BODY), None])
def test_a_file_is_pinned_by_its_own_bytes(
    workspace: Workspace, index: Site, digest: str | None
) -> None:
    offer(index, digest)
    assert repin(workspace, [], [FileRequest("foo", "1.0", WHEEL)]) == Pins(files=(PINNED,))
    assert cached_path(workspace, PINNED).read_bytes() == BODY
    assert stat.S_IMODE(cached_path(workspace, PINNED).stat().st_mode) == 0o444
    # One in the cache is not fetched again.
    assert repin(workspace, [], [FileRequest("foo", "1.0", WHEEL)]) == Pins(files=(PINNED,))
    assert index.paths().count(f"/simple/foo/{WHEEL}") == (1 if digest else 2)


def test_other_bytes_than_the_index_announces_are_refused(
    workspace: Workspace, index: Site, room: Path
) -> None:
    offer(index, "0" * 64)
    with pytest.raises(IntegrityError) as caught:
        repin(workspace, [], [FileRequest("foo", "1.0", WHEEL)])
    message = str(caught.value)
    assert f"expected: sha256 {'0' * 64}" in message
    assert f"found:    sha256 {sha256(BODY)}" in message
    assert SECRET not in message
    assert list((room / "cache").rglob("foo*")) == []


def test_a_file_missing_from_every_index_is_an_error(workspace: Workspace, index: Site) -> None:
    with pytest.raises(FetchError) as caught:
        repin(workspace, [], [FileRequest("foo", "2.0", "foo-2.0.tar.gz")])
    assert "foo 2.0: no index has foo-2.0.tar.gz" in str(caught.value)
    assert f"{index.url}/simple/foo/" in str(caught.value)
    assert SECRET not in str(caught.value)


def pinned(version: str, digit: str = "a", name: str = "foo", end: str = ".tar.gz") -> IndexPin:
    return IndexPin(
        name=name, version=version, filename=f"{name}-{version}{end}", size=1, sha256=digit * 64
    )


def test_the_difference_is_listed_in_lines() -> None:
    old_deb = DebPin(
        suite="bookworm", name="a", version="1", path="pool/a", size=1, sha256="a" * 64
    )
    new_deb = DebPin(**{**vars(old_deb), "version": "2"})
    gone = DebPin(**{**vars(old_deb), "suite": "bullseye"})
    old = Pins((old_deb, gone), (pinned("1"), pinned("1", name="bar"), pinned("7", name="same")))
    new = Pins(
        (new_deb,),
        (
            pinned("2"),
            pinned("1", "b", name="bar"),
            pinned("7", name="same"),
            pinned("1", name="n"),
        ),
    )
    assert difference(old, new) == [
        f"OTHER BYTES under the same version: bar-1.tar.gz 1: sha256 {'a' * 64} -> {'b' * 64}",
        "added    n-1.tar.gz 1",
        "changed  bookworm/a 1 -> 2",
        "changed  foo 1 -> 2",
        "removed  bullseye/a 1",
    ]
