"""Temporary folders: those of killed programs are removed, all others stay."""

from __future__ import annotations

import fcntl
import importlib
import os
from pathlib import Path

import pytest

scratch = importlib.import_module("verify.core.program")

OLD = "theano-verify-abcdefgh"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_is_removed_at_the_end_of_the_block(tmp_path: Path) -> None:
    with scratch.temporary_folder() as path:
        assert Path(path).parent == tmp_path and Path(path).name.startswith("theano-verify-")
        (Path(path) / "file").touch()
    assert names(tmp_path) == []


def test_the_folder_of_a_killed_program_is_removed(tmp_path: Path) -> None:
    (tmp_path / OLD / "compiled").mkdir(parents=True)
    with scratch.temporary_folder() as path:
        assert names(tmp_path) == [Path(path).name]


def test_the_folder_of_a_running_program_stays(tmp_path: Path) -> None:
    with scratch.temporary_folder() as first, scratch.temporary_folder() as second:
        assert names(tmp_path) == sorted([Path(first).name, Path(second).name])


def test_what_is_not_of_the_suite_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    (tmp_path / OLD).symlink_to(outside)
    for name in ("verify-abcdefgh", "theano-verify-notes", "theano-stacks-abcdefgh"):
        (tmp_path / name).mkdir()
    (tmp_path / "theano-verify-abcdefg1").touch()
    before = names(tmp_path)
    with scratch.temporary_folder():
        pass
    assert names(tmp_path) == before and (outside / "kept").is_dir()
    (tmp_path / OLD).unlink()
    (tmp_path / OLD).mkdir()
    monkeypatch.setattr(scratch.os, "geteuid", lambda: os.getuid() + 1)
    with scratch.temporary_folder():
        pass
    assert OLD in names(tmp_path)


@pytest.mark.parametrize("how", ["locked", "removed"])
def test_a_folder_that_another_start_took_for_an_old_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    mkdtemp = scratch.tempfile.mkdtemp
    made: list[str] = []

    def removed_at_once(prefix: str) -> str:
        made.append(mkdtemp(prefix=prefix))
        if len(made) == 1 and how == "removed":
            Path(made[0]).rmdir()
        elif len(made) == 1:
            # The other start: it locks the folder before its maker does.
            handle = os.open(made[0], os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX)
        return made[-1]

    monkeypatch.setattr(scratch.tempfile, "mkdtemp", removed_at_once)
    with scratch.temporary_folder() as path:
        assert path == made[1]


def test_without_locks_a_folder_is_made_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    (tmp_path / OLD).mkdir()
    monkeypatch.setattr(scratch.fcntl, "flock", refuse)
    with scratch.temporary_folder():
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == [OLD]
