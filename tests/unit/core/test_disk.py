from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core import disk, paths
from stacks.core.disk import (
    REPOSITORY,
    explain_disk_errors,
    hold_lock,
    remove_leftover,
    replace_atomically,
    scratch,
    scratch_parent,
    sha256_of,
    temporary_folder,
    write_atomically,
)
from stacks.core.errors import DiskError
from stacks.core.locking import acquire_folder
from stacks.core.paths import cache_root


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_put_in_place_whole(tmp_path: Path) -> None:
    target = tmp_path / "new/folder/file"
    write_atomically(target, "old")
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
    assert names(target.parent) == ["file"]


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", "{}")
    assert os.read(reader, 9) == b"{}" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_a_temporary_folder_in_use_is_not_removed(tmp_path: Path) -> None:
    with replace_atomically(tmp_path / "a") as made:
        made.touch()
        assert not remove_leftover(made.parent)
        with hold_lock(tmp_path / "a", "it"):
            assert made.exists()
    assert names(tmp_path) == [".a.lock", "a"]


def test_a_link_in_place_of_a_leftover_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real/file").mkdir(parents=True)
    link = tmp_path / ".a.12345678.part"
    link.symlink_to("real")
    assert not remove_leftover(link)
    assert names(tmp_path / "real") == ["file"]


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


def test_a_file_system_without_locks_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> int:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(disk, "acquire_folder", refuse)
    with temporary_folder(tmp_path, "x-") as folder:
        assert not remove_leftover(folder)
    assert names(tmp_path) == []


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "link"
    target.symlink_to("real")
    write_atomically(target, "text")
    assert not target.is_symlink() and names(tmp_path / "real") == []


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
    ],
)
def test_refusals_of_the_disk(number: int, fix: str) -> None:
    with pytest.raises(DiskError) as caught, explain_disk_errors(cache_root() / "here"):
        raise OSError(number, os.strerror(number))
    assert caught.value.what == f"{cache_root() / 'here'}: {os.strerror(number)}"
    assert fix in str(caught.value.fix)


@pytest.mark.parametrize(
    ("place", "fix"),
    [
        (REPOSITORY / "build/x", "use a checkout in a folder that you may write"),
        (Path("/tmp/x"), "set TMPDIR to a folder that you may write"),
        (Path("/srv/x"), "choose a folder that you may write"),
    ],
)
def test_the_fix_is_for_the_place(place: Path, fix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setenv("THEANO_STACKS_CACHE", "/elsewhere")
    with pytest.raises(DiskError) as caught, explain_disk_errors(Path("/any")):
        raise PermissionError(errno.EACCES, "no", str(place))
    assert (caught.value.what, caught.value.fix) == (f"{place}: no", fix)


def test_other_errors_are_not_hidden() -> None:
    with pytest.raises(FileNotFoundError), explain_disk_errors(Path("/any")):
        raise FileNotFoundError(errno.ENOENT, "none")


def test_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(DiskError, match=r"(?s)none that may be written.*set TMPDIR"), scratch():
        pass


def test_the_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert scratch_parent() == tmp_path
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    monkeypatch.setenv("TEMP", str(tmp_path))
    assert scratch_parent() == tmp_path
    # None is tried by a file, which would stay if this process were killed.
    assert not list(tmp_path.iterdir())


HOLDER = """
import sys
from pathlib import Path
from typing import Any
from stacks.core.disk import hold_lock
with hold_lock(Path(sys.argv[1]), "it"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_is_waited_for_and_what_was_left_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "a"
    for name in (".a.12345678.part", ".a.b.12345678.part", ".ab.12345678.part"):
        (tmp_path / name).mkdir()
    command = [sys.executable, "-c", HOLDER, str(target)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as first:
        assert first.stdin and first.stdout
        assert first.stdout.readline() == "held\n"
        assert names(tmp_path) == [".a.b.12345678.part", ".a.lock", ".ab.12345678.part"]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        ) as second:
            assert second.stderr
            holder = f"waiting: it is being made by process {first.pid}: "
            assert second.stderr.readline().startswith(holder)
            first.stdin.write("\n")
            first.stdin.close()
            assert second.communicate("\n")[0] == "held\n"
        assert second.returncode == 0


def test_a_lock_falls_with_its_holder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "a")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        holder.kill()
    with hold_lock(tmp_path / "a", "it"):
        pass


@pytest.mark.parametrize(
    ("chosen", "xdg", "found"),
    [("/c", "/x", "/c"), ("~/c", "", "/home/me/c"), ("", "/x", "/x/theano-stacks"),
     ("", "", "/home/me/.cache/theano-stacks")],
)  # fmt: skip
def test_the_folder_of_the_cache(
    chosen: str, xdg: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("THEANO_STACKS_CACHE", chosen)
    monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert cache_root() == Path(found)


def test_no_home_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THEANO_STACKS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(DiskError, match=r"(?s)no home.*THEANO_STACKS_CACHE"):
        cache_root()


def test_the_sha256_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc" * 1_000_000)
    assert sha256_of(path) == hashlib.sha256(b"abc" * 1_000_000).hexdigest()


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"THEANO_STACKS_HOME": "/mine", "XDG_DATA_HOME": "/data"}, "/mine"),
        ({"XDG_DATA_HOME": "/data"}, "/data/theano-stacks"),
        ({"XDG_DATA_HOME": ""}, "/home/me/.local/share/theano-stacks"),
    ],
)
def test_the_home_of_the_installed_command(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for name in ("THEANO_STACKS_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert paths.home_root() == Path(folder)
    monkeypatch.setattr(disk, "INSTALLED", True)
    with pytest.raises(DiskError) as caught, explain_disk_errors(Path(folder, "build")):
        raise PermissionError(errno.EACCES, "no")
    assert caught.value.fix == "set THEANO_STACKS_HOME to a folder that you may write"


def test_a_long_name_has_room_for_the_temporary_folders_beside_it(tmp_path: Path) -> None:
    name = "ü" * 127
    (tmp_path / f".{hashlib.sha256(name.encode()).hexdigest()}.12345678.part").mkdir()
    write_atomically(tmp_path / name, "text")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["text"]
    with pytest.raises(DiskError, match="File name too long") as caught:
        write_atomically(tmp_path / f"{name}xx", "text")
    assert caught.value.fix == "choose a shorter name"
