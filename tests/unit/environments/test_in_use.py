"""What a process uses, another does not remove: real processes, checked by what they print."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.environments import folders
from stacks.environments.folders import InUseError

USER = """
import sys
from pathlib import Path
from stacks.environments import folders
folders.hold_shared(Path(sys.argv[-1]))
folders.hold_shared(Path(sys.argv[-1]))
print("held", flush=True)
sys.stdin.readline()
"""
RUNNER = """
import sys
from pathlib import Path
from stacks.environments import folders
from stacks.environments.use import run
folders.hold_shared(Path(sys.argv[-1]))
run._replace_by(["cat"], {"PATH": "/usr/bin:/bin"})
"""
CLEANER = """
import sys
from pathlib import Path
from stacks.environments import folders
with folders.hold_exclusive(Path(sys.argv[-1]), "it"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def start(program: str, lock: Path, *words: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program, *words, str(lock)]
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()


def disk_error(lock: Path) -> InUseError:
    with pytest.raises(InUseError) as caught, folders.hold_exclusive(lock, "it"):
        pass
    return caught.value


def test_a_folder_in_use_is_not_removed(tmp_path: Path) -> None:
    lock = tmp_path / "new/lock"
    with start(USER, lock, "first") as first, start(USER, lock, "second") as second:
        assert (line(first), line(second)) == ("held\n", "held\n")
        found = str(disk_error(lock).found)
        assert f"process {first.pid}: " in found and f"process {second.pid}: " in found
        assert "first" in found and "; process" in found and "\n" not in found
        first.communicate("\n")
        assert f"process {second.pid}: " in str(disk_error(lock).found)
        second.kill()
    with folders.hold_exclusive(lock, "it"):
        assert lock.exists()
    assert not lock.exists()


def test_a_program_that_takes_the_place_of_a_user_uses_it_too(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with start(RUNNER, lock) as user:
        assert user.stdin
        user.stdin.write("cat\n")
        user.stdin.flush()
        assert line(user) == "cat\n"
        error = disk_error(lock)
        assert error.found == f"process {user.pid}: cat"
        assert error.what == "it is in use: nothing was removed"
        user.communicate()
    with folders.hold_exclusive(lock, "it"):
        pass


def test_users_wait_for_a_removal_to_end(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with start(CLEANER, lock) as cleaner:
        assert line(cleaner) == "held\n"
        with start(USER, lock) as user:
            assert user.stderr
            output = user.stderr.readline()
            holder = f"waiting: what this uses is being removed by process {cleaner.pid}: "
            assert output.startswith(holder)
            cleaner.communicate("\n")
            assert line(user) == "held\n"
            # The file that it waited for is gone: it holds the one by that name now.
            assert f"process {user.pid}: " in str(disk_error(lock).found)
            user.communicate("\n")
            assert (cleaner.returncode, user.returncode) == (0, 0)


def test_two_cleans_at_once(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with start(CLEANER, lock) as cleaner:
        assert line(cleaner) == "held\n"
        assert f"process {cleaner.pid}: " in str(disk_error(lock).found)
        cleaner.communicate("\n")


def test_no_lock_is_held_where_it_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    lock = tmp_path / "file/lock"
    folders.hold_shared(lock)
    assert lock not in folders._held


def test_a_removal_that_does_not_end_is_named(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with start(CLEANER, lock) as cleaner:
        assert line(cleaner) == "held\n"
        with pytest.raises(InUseError) as caught:
            folders.hold_shared(lock, limit=0.1)
        assert str(caught.value.found).startswith(f"process {cleaner.pid}: ")
        assert caught.value.expected == "a removal that ends within 0.1 s"
        cleaner.communicate("\n")
    assert lock not in folders._held
