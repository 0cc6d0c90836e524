from __future__ import annotations

import hashlib
import shutil
import stat
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.care import leftovers
from stacks.sources.cache import cached_path
from stacks.sources.pins import IndexPin
from stacks.sources.vendored import VARIABLE, take, vendored_folder, vendored_path

DATA = b"a wheel"
PIN = IndexPin(
    name="a",
    version="1",
    filename="a-1-py3-none-any.whl",
    size=len(DATA),
    sha256=hashlib.sha256(DATA).hexdigest(),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, tmp_path / "cache")


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the vendored folder that is set; it has the pinned file."""
    folder = tmp_path / "carried"
    vendored_path(folder, PIN).parent.mkdir(parents=True)
    vendored_path(folder, PIN).write_bytes(DATA)
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


@pytest.mark.usefixtures("carried")
def test_a_pinned_file_is_copied_into_the_cache(workspace: Workspace) -> None:
    assert take(workspace, [PIN]) == []
    path = cached_path(workspace, PIN)
    assert path.read_bytes() == DATA
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_what_a_killed_copy_leaves_is_removed(
    workspace: Workspace, carried: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def killed(source: Path, copy: Path) -> None:
        made.append(copy.parent)
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copyfile", killed)
    with pytest.raises(KeyboardInterrupt):
        take(workspace, [PIN])
    made[0].mkdir()
    assert made[0] in leftovers.in_cache(workspace)


def test_wrong_bytes_are_not_kept(
    workspace: Workspace, carried: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vendored_path(carried, PIN).write_bytes(b"A wheel")
    assert take(workspace, [PIN]) == [PIN]
    assert f"{PIN.filename}: expected sha256 {PIN.sha256}" in capsys.readouterr().err
    path = cached_path(workspace, PIN)
    assert not path.exists()
    assert list(path.parent.glob(".*.part")) == []


def test_a_file_that_is_not_there_is_left_to_other_places(
    workspace: Workspace, carried: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vendored_path(carried, PIN).unlink()
    assert take(workspace, [PIN]) == [PIN]
    assert capsys.readouterr().err == ""


def test_without_the_variable_nothing_is_taken(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert vendored_folder() is None
    assert take(workspace, [PIN]) == [PIN]


def test_a_variable_that_names_no_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="names no folder"):
        vendored_folder()
