"""Putting a file or a folder in place of another: the old or the new, never neither."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from stacks.core import disk, paths
from stacks.core.disk import REPOSITORY, exchange, hold_lock, replace_atomically, write_atomically
from stacks.core.errors import DiskError, UsageError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_takes_the_place_of_another(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    for name in ("old", "new"):
        with replace_atomically(target) as made:
            made.mkdir()
            (made / name).touch()
    assert names(target) == ["new"]
    assert names(tmp_path) == ["folder"]


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(ZeroDivisionError), replace_atomically(target) as made:
        made.mkdir()
        raise ZeroDivisionError
    assert (names(target), names(tmp_path)) == (["old"], ["folder"])


def test_a_block_that_makes_nothing_leaves_the_old(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(FileNotFoundError), replace_atomically(target):
        pass
    assert (names(target), names(tmp_path)) == (["old"], ["folder"])


def test_a_folder_is_never_missing_while_it_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    ended, missing = threading.Event(), []

    def watch() -> None:
        while not ended.is_set():
            try:
                target.stat()
            except FileNotFoundError as error:
                missing.append(error)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(1000):
        with replace_atomically(target) as made:
            made.mkdir()
            (made / str(number)).touch()
    ended.set()
    watcher.join()
    assert not missing
    assert (names(target), names(tmp_path)) == (["999"], ["folder"])


def test_a_file_system_without_an_exchange_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(disk, "exchange", lambda first, second: False)
    test_a_folder_takes_the_place_of_another(tmp_path)
    assert capsys.readouterr().err == (
        f"note: {tmp_path}: its file system cannot exchange folders: folder is missing for a "
        "moment\n"
    )
    (tmp_path / "new").mkdir()
    test_a_block_that_makes_nothing_leaves_the_old(tmp_path / "new")


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_folder_of_a_lower_layer_is_copied_before_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    rename, remove = Path.rename, shutil.rmtree

    def renamed(path: Path, target: Path) -> Path:
        if path == tmp_path / "folder":
            raise OSError(errno.EXDEV, "Invalid cross-device link", str(path))
        return rename(path, target)

    def removed(path: Path, **options: Any) -> None:
        if interrupted and path == tmp_path / "folder" and not options:
            raise KeyboardInterrupt
        remove(path, **options)

    monkeypatch.setattr(disk, "exchange", lambda first, second: False)
    monkeypatch.setattr(Path, "rename", renamed)
    monkeypatch.setattr(shutil, "rmtree", removed)
    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            test_a_folder_takes_the_place_of_another(tmp_path)
        assert names(tmp_path / "folder") == ["old"] and names(tmp_path) == ["folder"]
    else:
        test_a_folder_takes_the_place_of_another(tmp_path)


def test_a_mount_point_cannot_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: path == tmp_path / "folder")
    with pytest.raises(DiskError, match="folder is a mount point") as caught:
        test_a_folder_takes_the_place_of_another(tmp_path)
    assert caught.value.fix == "choose a folder inside of it"


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with (
            pytest.raises(UsageError, match=f"{name} is a device or a pipe"),
            replace_atomically(tmp_path / name),
        ):
            raise AssertionError("the block began")
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()


DYING = """
import os, signal, sys
from pathlib import Path
from typing import Any
from stacks.core import disk
exchange = disk.exchange
def die(first, second):
    if sys.argv[2] == "after":
        exchange(first, second)
    os.kill(os.getpid(), signal.SIGKILL)
disk.exchange = die
with disk.replace_atomically(Path(sys.argv[1])) as made:
    made.mkdir()
    (made / "new").touch()
"""


@pytest.mark.parametrize(("moment", "content"), [("before", "old"), ("after", "new")])
def test_a_killed_replacement_leaves_the_old_or_the_new(
    moment: str, content: str, tmp_path: Path
) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").touch()
    command = [sys.executable, "-c", DYING, str(target), moment]
    assert subprocess.run(command, cwd=REPOSITORY, check=False).returncode == -9
    assert names(target) == [content]
    [left, _] = names(tmp_path)
    assert left.endswith(".part")
    with hold_lock(target, "it"):
        assert names(tmp_path) == [".folder.lock", "folder"]


def test_a_file_does_not_take_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/old.json").write_text("kept")
    with pytest.raises(DiskError, match=r"results: Is a directory\n  fix: +a folder stands where"):
        write_atomically(tmp_path / "results", "{}")
    assert (tmp_path / "results/old.json").read_text() == "kept"


def test_what_a_killed_process_left_beside_it_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".folder.abcd1234.part/large").mkdir(parents=True)
    (tmp_path / ".folder.old.abcd1234.part").mkdir()
    with replace_atomically(tmp_path / "folder") as new:
        new.mkdir()
    assert names(tmp_path) == [".folder.old.abcd1234.part", "folder"]


def test_the_working_folder_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b")
    paths.check_working_folder(tmp_path / "a/c")
    for folder in (tmp_path / "a", tmp_path / "a/b"):
        with pytest.raises(UsageError, match="is the folder that you stand in"):
            paths.check_working_folder(folder)


def test_what_a_killed_process_had_moved_away_is_put_back(tmp_path: Path) -> None:
    (tmp_path / ".folder.abcd1234.part/replaced/old").mkdir(parents=True)
    with pytest.raises(ValueError, match="x"), replace_atomically(tmp_path / "folder"):
        raise ValueError("x")
    assert names(tmp_path) == ["folder"] and names(tmp_path / "folder") == ["old"]


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
