"""Pinned files from the folder that THEANO_STACKS_VENDOR names."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import IndexPin, cached_path
from stacks.sources.vendored import VARIABLE, vendored_folder, vendored_path

pytestmark = pytest.mark.usefixtures("room")
DATA = b"a wheel"
PIN = IndexPin(
    name="a",
    version="1",
    filename="a-1-py3-none-any.whl",
    size=len(DATA),
    sha256=hashlib.sha256(DATA).hexdigest(),
)


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the vendored folder that is set; it has the pinned file."""
    folder = tmp_path / "carried"
    vendored_path(folder, PIN).parent.mkdir(parents=True)
    vendored_path(folder, PIN).write_bytes(DATA)
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


@pytest.mark.usefixtures("carried")
@pytest.mark.parametrize("offline", [True, False])
def test_a_pinned_file_is_copied_into_the_cache(workspace: Workspace, offline: bool) -> None:
    path = fetch(workspace, [PIN], offline=offline)[PIN]
    assert path == cached_path(workspace, PIN)
    assert path.read_bytes() == DATA
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


@pytest.mark.parametrize(
    ("data", "warning"),
    [(b"A wheel", "its bytes are not the pinned ones"), (b"long" * 9, "too much")],
)
def test_wrong_bytes_are_not_kept(
    workspace: Workspace,
    carried: Path,
    data: bytes,
    warning: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    vendored_path(carried, PIN).write_bytes(data)
    with pytest.raises(FetchError, match=r"a-1-py3-none-any\.whl: missing"):
        fetch(workspace, [PIN], offline=True)
    [line] = [x for x in capsys.readouterr().err.splitlines() if x.startswith("warning")]
    assert PIN.filename in line and warning in line and "the next place is tried" in line
    path = cached_path(workspace, PIN)
    assert not path.exists()
    assert not list(path.parent.glob("*.part"))


def test_a_file_that_is_not_there_is_left_to_other_places(
    workspace: Workspace, carried: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vendored_path(carried, PIN).unlink()
    with pytest.raises(FetchError, match="missing"):
        fetch(workspace, [PIN], offline=True)
    assert "warning" not in capsys.readouterr().err


def test_the_variable_may_be_empty_and_must_name_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert vendored_folder() is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="names no folder"):
        vendored_folder()
