from __future__ import annotations

import errno
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.paths import exists, expanded, is_dir, is_file


def test_a_home_folder_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="~no-such-user-here/x: no home folder of that name"):
        expanded("~no-such-user-here/x")


def test_a_name_that_is_too_long_is_no_file(tmp_path: Path) -> None:
    assert not is_file(tmp_path / ("x" * 300))


def test_a_file_that_may_not_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(UsageError, match=r"/secret: Permission denied\n  fix: "):
        is_file(Path("/secret"))


def test_what_may_not_be_seen_counts_as_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    assert not exists(tmp_path / "nothing") and is_dir(tmp_path)
    monkeypatch.setattr(Path, "stat", refuse)
    assert exists(tmp_path)
    with pytest.raises(UsageError, match="Permission denied"):
        is_dir(tmp_path)
