"""Locks between real processes, some of them of another person."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.core import locking
from stacks.core.disk import REPOSITORY, hold_lock

# Any number that is nobody's here; the group is another one.
PERSON, GROUP = 54_321, 54_322
# It must not import this checkout, which the other person may not be able to read.
OTHER = f"""
import fcntl, os, sys
lock, group = sys.argv[1], int(sys.argv[2])
os.setgroups([])
os.setresgid(group, group, group)
os.setresuid({PERSON}, {PERSON}, {PERSON})
try:
    file = os.open(lock, os.O_RDWR if sys.argv[3] == "write" else os.O_RDONLY)
    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
except OSError as error:
    print(type(error).__name__, flush=True)
else:
    print("held", flush=True)
    sys.stdin.readline()
"""
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another person")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Give a folder that other people can reach."""
    closed = []
    for parent in (tmp_path, *tmp_path.parents):
        mode = stat.S_IMODE(parent.stat().st_mode)
        if not mode & 0o001 and parent.stat().st_uid == os.geteuid():
            closed.append((parent, mode))
            parent.chmod(mode | 0o011)
    made = tmp_path / "folder"
    made.mkdir()
    made.chmod(0o755)
    yield made
    for parent, mode in closed:
        parent.chmod(mode)


def other(lock: Path, group: int = PERSON, way: str = "read") -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-I", "-S", "-c", OTHER, str(lock), str(group), way]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


def answer(lock: Path, group: int = PERSON, way: str = "read") -> str:
    return other(lock, group, way).communicate("\n")[0].strip()


@NEEDS_ROOT
def test_a_person_who_may_only_read_cannot_hold_a_lock(folder: Path) -> None:
    lock = folder / ".target.lock"
    with hold_lock(folder / "target", "it"):
        assert answer(lock) == "PermissionError"
    assert answer(lock) == "PermissionError"


@NEEDS_ROOT
def test_a_lock_of_an_earlier_version_is_corrected(folder: Path) -> None:
    lock = folder / ".target.lock"
    lock.touch()
    lock.chmod(0o644)
    assert answer(lock) == "held"
    with hold_lock(folder / "target", "it"):
        pass
    assert answer(lock) == "PermissionError"


@NEEDS_ROOT
def test_a_person_of_the_folders_group_shares_its_locks(folder: Path) -> None:
    os.chown(folder, -1, GROUP)
    folder.chmod(0o775)
    with hold_lock(folder / "target", "it"):
        pass
    lock = folder / ".target.lock"
    assert answer(lock, GROUP, "write") == "held"
    assert answer(lock, PERSON) == "PermissionError"


@NEEDS_ROOT
def test_a_lock_that_root_makes_is_of_the_folders_owner(folder: Path) -> None:
    os.chown(folder, PERSON, PERSON)
    with hold_lock(folder / "target", "it"):
        pass
    assert answer(folder / ".target.lock", PERSON, "write") == "held"


@NEEDS_ROOT
def test_the_process_of_another_person_is_named(folder: Path) -> None:
    lock = folder / ".target.lock"
    lock.touch()
    lock.chmod(0o644)
    with other(lock) as reader:
        assert reader.stdout and reader.stdout.readline() == "held\n"
        assert locking.acquire(lock, fcntl.LOCK_EX, limit=0) is None
        assert locking.holders(lock).startswith(f"process {reader.pid}: ")
        reader.communicate("\n")


@pytest.mark.parametrize(
    ("folder_mode", "mode"), [(0o755, 0o600), (0o700, 0o600), (0o775, 0o660), (0o777, 0o666)]
)
@pytest.mark.parametrize("earlier", [None, 0o644, 0o666, 0o600])
def test_those_who_may_write_to_the_folder_may_lock(
    folder_mode: int, mode: int, earlier: int | None, tmp_path: Path
) -> None:
    lock = tmp_path / ".target.lock"
    if earlier is not None:
        lock.touch()
        lock.chmod(earlier)
    tmp_path.chmod(folder_mode)
    before = os.umask(0o077)
    try:
        with hold_lock(tmp_path / "target", "it"):
            assert stat.S_IMODE(lock.stat().st_mode) == mode
    finally:
        os.umask(before)
        tmp_path.chmod(0o700)


def test_a_link_in_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "lock").symlink_to("file")
    with pytest.raises(OSError, match="symbolic links"):
        locking.acquire(tmp_path / "lock", fcntl.LOCK_EX)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_process_that_only_waits_is_not_a_holder(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    descriptor = locking.acquire(lock, fcntl.LOCK_EX)
    with lock.open() as waiting:
        assert waiting
        program = "import sys; print(1, flush=True); sys.stdin.readline()"
        with subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[waiting.fileno()],
        ) as opener:
            assert opener.stdout and opener.stdout.readline() == b"1\n"
            assert locking.holders(lock).startswith(f"process {os.getpid()}: ")
            assert str(opener.pid) not in locking.holders(lock)
            opener.communicate(b"\n")
    assert descriptor is not None
    os.close(descriptor)
    assert locking.holders(lock) == "a process on another machine"
    lock.unlink()
    assert locking.holders(lock) == "a process that has ended"


def test_our_own_program_is_named_as_a_person_types_it(tmp_path: Path) -> None:
    folder = tmp_path / "1"
    folder.mkdir()
    program = f"{locking.OWN_PROGRAM}\nmain()".encode()
    (tmp_path / "invoke").touch()
    words = [b"python", b"-I", b"-c", program, bytes(tmp_path), b"build"]
    (folder / "cmdline").write_bytes(b"\0".join([*words, b"-v", b"a b"]) + b"\0")
    assert locking.command(folder) == "./invoke build -v 'a b'"
    (tmp_path / "invoke").unlink()
    assert locking.command(folder) == "theano-stacks build -v 'a b'"
    (folder / "cmdline").write_bytes(b"\0".join([b"x" * (locking.LONGEST + 1)]) + b"\0")
    assert locking.command(folder) == "x" * locking.LONGEST + " ..."
    assert locking.command(tmp_path / "2") == "it has ended"


def test_the_words_by_which_our_own_program_is_known() -> None:
    assert locking.OWN_PROGRAM in (REPOSITORY / "invoke").read_text()
