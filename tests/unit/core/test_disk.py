"""Files and folders put in place of others: the old or the new, never neither.

Disks that refuse, and the folders that killed processes leave.
"""

import errno
import hashlib
import os
import shutil
import signal
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from stacks.core import disk
from stacks.core.disk import (
    REPOSITORY,
    explain_disk_errors,
    hold_lock,
    replace_atomically,
    sha256_of,
    temporary_folder,
    tmp_folder,
    tmp_parent,
    write_atomically,
)
from stacks.core.errors import DiskError, UsageError
from stacks.core.locking import acquire_folder
from stacks.core.paths import cache_root


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Give a folder that has one file."""
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").touch()
    return target


def replace(target: Path) -> None:
    with replace_atomically(target) as made:
        made.mkdir()
        (made / "new").touch()


def test_a_file_is_put_in_place_whole(tmp_path: Path) -> None:
    path = tmp_path / "new/folder/file"
    write_atomically(path, "old")
    write_atomically(path, b"abc" * 1_000_000)
    assert sha256_of(path) == hashlib.sha256(b"abc" * 1_000_000).hexdigest()
    assert names(path.parent) == ["file"]


def test_a_folder_takes_the_place_of_another(target: Path) -> None:
    replace(target)
    assert (names(target), names(target.parent)) == (["new"], ["folder"])


def test_a_failure_leaves_the_old_folder_and_nothing_else(target: Path) -> None:
    with pytest.raises(ZeroDivisionError), replace_atomically(target) as made:
        made.mkdir()
        raise ZeroDivisionError
    with pytest.raises(FileNotFoundError), replace_atomically(target):
        pass
    with pytest.raises(DiskError, match="a file stands where a folder is needed"):
        replace(target / "old")
    assert (target / "old").is_file()
    assert (names(target), names(target.parent)) == (["old"], ["folder"])


def test_a_folder_is_never_missing_while_it_is_replaced(target: Path) -> None:
    ended, missing = threading.Event(), []

    def watch() -> None:
        while not ended.is_set():
            try:
                target.stat()
            except FileNotFoundError as error:
                missing.append(error)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(1000):
        replace(target)
    ended.set()
    watcher.join()
    assert not missing


def test_a_file_system_without_an_exchange_is_named(
    target: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(disk, "exchange", lambda first, second: False)
    test_a_failure_leaves_the_old_folder_and_nothing_else(target)
    capsys.readouterr()
    test_a_folder_takes_the_place_of_another(target)
    assert capsys.readouterr().err == (
        f"note: {target.parent}: its file system cannot exchange folders: folder is missing for a "
        "moment\n"
    )


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_folder_of_a_lower_layer_is_copied_before_it_is_removed(
    target: Path, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    rename, remove = Path.rename, shutil.rmtree

    def renamed(path: Path, to: Path) -> Path:
        if path == target:
            raise OSError(errno.EXDEV, "Invalid cross-device link", str(path))
        return rename(path, to)

    def removed(path: Path, **options: Any) -> None:
        if interrupted and path == target and not options:
            raise KeyboardInterrupt
        remove(path, **options)

    monkeypatch.setattr(disk, "exchange", lambda first, second: False)
    monkeypatch.setattr(Path, "rename", renamed)
    monkeypatch.setattr(shutil, "rmtree", removed)
    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            replace(target)
        assert (names(target), names(target.parent)) == (["old"], ["folder"])
    else:
        test_a_folder_takes_the_place_of_another(target)


def test_what_cannot_be_replaced(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DiskError, match=r"folder: Is a directory\n  fix: +a folder stands where"):
        write_atomically(target, "{}")
    monkeypatch.setattr(os.path, "ismount", lambda path: path == target)
    with pytest.raises(DiskError, match=r"folder is a mount point(?s:.*)a folder inside of it"):
        replace(target)
    assert names(target) == ["old"]
    os.mkfifo(target / "pipe")
    (target / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(UsageError, match=f"{name} is a device or a pipe"):
            replace(target / name)
    assert (target / "pipe").is_fifo() and (target / "link").is_symlink()


def test_a_pipe_is_written_to_and_stays_and_a_link_is_replaced(
    target: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", "{}")
    assert os.read(reader, 9) == b"{}" and (tmp_path / "pipe").is_fifo()
    os.close(reader)
    link = target.with_name("link")
    link.symlink_to("folder")
    write_atomically(link, "text")
    assert not link.is_symlink() and names(target) == ["old"]


def test_what_killed_processes_left_is_removed_or_put_back(tmp_path: Path) -> None:
    (tmp_path / ".folder.old.abcd1234.part").mkdir()
    (tmp_path / ".folder.abcd1234.part/replaced/old").mkdir(parents=True)
    with pytest.raises(ValueError, match="x"), replace_atomically(tmp_path / "folder"):
        raise ValueError("x")
    assert names(tmp_path / "folder") == ["old"]
    (tmp_path / ".folder.abcd1234.part/large").mkdir(parents=True)
    replace(tmp_path / "folder")
    assert names(tmp_path) == [".folder.old.abcd1234.part", "folder"]


def test_a_temporary_folder_that_was_taken_as_left_over_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def acquire_after_removal(folder: Path) -> int:
        if not made:
            folder.rmdir()
        made.append(folder)
        return acquire_folder(folder)

    monkeypatch.setattr(disk, "acquire_folder", acquire_after_removal)
    with temporary_folder(tmp_path, "x-") as folder:
        assert folder.is_dir() and folder == made[1]
    assert names(tmp_path) == []


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkdtemp"), (shutil, "rmtree")])
def test_an_interrupt_while_a_temporary_folder_is_made_or_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    real = getattr(module, name)

    def interrupted(*words: Any, **options: Any) -> Any:
        monkeypatch.setattr(module, name, real)
        made = real(*words, **options) if module is tempfile else None
        signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(module, name, interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder(tmp_path, "x-") as folder:
        (folder / "file").touch()
    assert names(tmp_path) == []


def test_a_temporary_folder_that_is_removed_while_it_is_in_use(tmp_path: Path) -> None:
    """As a cleaner of /tmp may do. A file that is missing in it for another reason is a fault."""
    removed = pytest.raises(DiskError, match=r"x-\S+ was removed meanwhile\n  fix: +run")
    with removed, temporary_folder(tmp_path, "x-") as folder:
        folder.rmdir()
        (folder / "file").touch()
    with pytest.raises(FileNotFoundError), temporary_folder(tmp_path, "x-") as folder:
        (folder / "file").read_bytes()


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.ENOSPC, "free some space, or set THEANO_STACKS_CACHE to a folder on another disk"),
        (errno.EDQUOT, "your quota is used up"),
        (errno.ENOLCK, "set THEANO_STACKS_CACHE to a folder on another file system"),
        (errno.EFBIG, "allows no larger file"),
        (errno.EROFS, "set THEANO_STACKS_CACHE to a folder that can be written"),
        (errno.EACCES, "set THEANO_STACKS_CACHE to a folder that you may write"),
        (errno.EPERM, "set THEANO_STACKS_CACHE to a folder that you may write"),
        (errno.EEXIST, "a file, or a link to nothing, stands where a folder is needed"),
        (errno.ENOTDIR, "a file stands where a folder is needed"),
        (errno.EISDIR, "a folder stands where a file is needed"),
        (errno.ELOOP, "a symbolic link leads to itself"),
        (errno.ENAMETOOLONG, "choose a shorter name"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EAGAIN, "ulimit -u"),
        (errno.ENOMEM, "ulimit -v"),
        (errno.ESTALE, "the network behind it, fails"),
    ],
)
def test_refusals_of_the_disk(number: int, fix: str) -> None:
    with pytest.raises(DiskError) as caught, explain_disk_errors(cache_root() / "here"):
        raise OSError(number, os.strerror(number))
    assert caught.value.what == f"{cache_root() / 'here'}: {os.strerror(number)}"
    assert fix in str(caught.value.fix)


def test_a_limit_of_this_process() -> None:
    for error, fix in (
        (MemoryError(), "ulimit -v"),
        (RuntimeError("can't start new thread"), "-u"),
    ):
        assert fix in str(disk.disk_error(error, Path("this process")))
    assert disk.disk_error(RuntimeError("another"), Path()) is None


def test_a_folder_that_the_system_refuses_to_make(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANO_STACKS_CACHE", "/proc/none")
    refused = pytest.raises(DiskError, match="/proc/none: no folder")
    with refused as caught, hold_lock(cache_root() / "it", "it"):
        pass
    assert caught.value.fix == "set THEANO_STACKS_CACHE to a folder that can be made"


@pytest.mark.parametrize(
    ("place", "fix"),
    [
        (REPOSITORY / "build/x", "use a checkout in a folder that you may write"),
        (Path("/d/theano-stacks"), "set THEANO_STACKS_HOME to a folder that you may write"),
        (Path(f"/tmp/{disk.TMP}abc/x"), "set TMPDIR to a folder that you may write"),
        (Path("/tmp/mine"), "choose a folder that you may write"),
        (Path("/srv/x"), "choose a folder that you may write"),
    ],
)  # fmt: skip
def test_the_fix_is_for_the_place(place: Path, fix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setenv("THEANO_STACKS_CACHE", "/elsewhere")
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    monkeypatch.setattr(disk, "INSTALLED", True)
    with pytest.raises(DiskError) as caught, explain_disk_errors(Path("/any")):
        raise PermissionError(errno.EACCES, "no", str(place))
    assert (caught.value.what, caught.value.fix) == (f"{place}: no", fix)


def test_the_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert tmp_parent() == tmp_path
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    monkeypatch.setenv("TEMP", str(tmp_path))
    assert tmp_parent() == tmp_path
    # None is tried by a file, which would stay if this process were killed.
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(DiskError, match=r"(?s)none that may be written.*set TMPDIR"), tmp_folder():
        pass
