"""Paths that a person has typed, and the folders of the user."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from stacks.core import paths
from stacks.core.errors import DiskError, UsageError
from stacks.core.paths import cache_root, home_root


@pytest.mark.parametrize(
    ("variables", "cache", "home"),
    [
        ({"THEANO_STACKS_CACHE": "/c", "THEANO_STACKS_HOME": "~/h"}, "/c", "/home/me/h"),
        ({"XDG_CACHE_HOME": "/x", "XDG_DATA_HOME": "/d"}, "/x/theano-stacks", "/d/theano-stacks"),
        ({"XDG_CACHE_HOME": "", "XDG_DATA_HOME": ""}, "/home/me/.cache/theano-stacks",
         "/home/me/.local/share/theano-stacks"),
    ],
)  # fmt: skip
def test_the_folders_of_the_user(
    variables: dict[str, str], cache: str, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CACHE", "HOME"):
        monkeypatch.delenv(f"THEANO_STACKS_{name}", raising=False)
    for name, value in {**variables, "HOME": "/home/me"}.items():
        monkeypatch.setenv(name, value)
    assert (cache_root(), home_root()) == (Path(cache), Path(home))


def test_no_home_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THEANO_STACKS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(DiskError, match=r"(?s)no home.*THEANO_STACKS_CACHE"):
        cache_root()
    with pytest.raises(UsageError, match="~no-such-user-here/x: no home folder of that name"):
        paths.expanded("~no-such-user-here/x")


def test_what_may_not_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    assert not paths.exists(tmp_path / "nothing") and paths.is_dir(tmp_path)
    assert not paths.is_file(tmp_path / ("x" * 300))
    monkeypatch.setattr(Path, "stat", refuse)
    assert paths.exists(tmp_path)
    for check in (paths.is_file, paths.is_dir):
        with pytest.raises(UsageError, match=r": Permission denied\n  fix: "):
            check(tmp_path)


def test_the_working_folder_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b")
    paths.check_working_folder(tmp_path / "a/c")
    for folder in (tmp_path / "a", tmp_path / "a/b"):
        with pytest.raises(UsageError, match="is the folder that you stand in"):
            paths.check_working_folder(folder)
