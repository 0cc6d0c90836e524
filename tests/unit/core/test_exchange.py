from __future__ import annotations

import ctypes
import errno
from pathlib import Path

import pytest

from stacks.core.exchange import exchange


def test_two_folders_change_places(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / f"was-{name}").mkdir(parents=True)
    assert exchange(tmp_path / "a", tmp_path / "b")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["was-b"]
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["was-a"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "a", tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.EXDEV])
def test_a_system_that_cannot(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        @staticmethod
        def renameat2(*words: object) -> int:
            ctypes.set_errno(number)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: Library)
    assert not exchange(Path("a"), Path("b"))


def test_a_c_library_without_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: object())
    assert not exchange(Path("a"), Path("b"))
