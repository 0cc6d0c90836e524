from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin
from unit.helpers.serving import BODY, POOL, Site, deb

pytestmark = pytest.mark.usefixtures("room")


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


def test_no_mirror_at_all(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, room: Path
) -> None:
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr("stacks.sources.mirrors.APT", room)
    with pytest.raises(FetchError, match="export DEBIAN_MIRROR="):
        fetch(workspace, [deb()])


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
