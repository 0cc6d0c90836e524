"""Programs, their signals, and the locks between real processes."""

import errno
import fcntl
import os
import signal
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from stacks.core import disk, locking, process
from stacks.core.disk import hold_lock, remove_leftover, temporary_folder
from stacks.core.process import CommandError, call, run_attached
from unit.helpers.processes import read_line, started

PYTHON = sys.executable


def test_what_a_program_prints() -> None:
    # Bytes that are no text, and a status that is accepted.
    code = "import os, sys; print('a b', flush=True); os.write(1, b'\\xff'); sys.exit(3)"
    assert call([PYTHON, "-c", code], accepted=(0, 3)) == "a b\n\ufffd"
    # The error of one that fails has its output.
    code = "import sys\nprint('out'); print('because', file=sys.stderr); sys.exit(3)"
    with pytest.raises(CommandError) as caught:
        call([PYTHON, "-c", code])
    assert caught.value.output == "out\nbecause"
    assert (caught.value.expected, caught.value.found) == ("exit status 0", "exit status 3")


def test_a_program_that_is_missing_and_the_status_of_one_that_is_there() -> None:
    with pytest.raises(CommandError, match="cannot run no-such-program: No such file"):
        call(["no-such-program", "x y"])
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        run_attached(["no-such-program"])
    assert run_attached([PYTHON, "-c", "import sys; sys.exit(7)"]) == 7


@pytest.mark.parametrize("put_off", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, *process.ENDING])
def test_a_signal_ends_the_block_with_the_status_of_a_shell_or_is_put_off_to_its_end(
    number: signal.Signals, put_off: bool
) -> None:
    before, done = signal.getsignal(number), []
    with pytest.raises((KeyboardInterrupt, SystemExit)) as raised, process.ended_once():
        within = signal.getsignal(number)
        try:
            with process.put_off() if put_off else nullcontext():
                os.kill(os.getpid(), number)
                done.append("what follows")
        finally:
            assert signal.getsignal(number) is within
            done.append("its end")
    assert done == ["what follows"] * put_off + ["its end"]
    if isinstance(raised.value, SystemExit):
        assert raised.value.code == 128 + number
    assert isinstance(raised.value, SystemExit) is (number in process.ENDING)
    assert signal.getsignal(number) is before


def test_what_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with process.ended_once():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


# Its parent is told to end; it removes its file when it is told, too.
TIDY = """
import os, signal, sys, time
def end(*_):
    os.remove("half made")
    os._exit(0)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, end)
open("half made", "w").close()
os.kill(os.getppid(), int(sys.argv[1]))
time.sleep(60)
"""


@pytest.mark.parametrize("run", [call, run_attached])
@pytest.mark.parametrize("number", [signal.SIGINT, *process.ENDING])
def test_a_program_has_time_to_tidy_up_when_this_one_ends(
    number: signal.Signals, run: Callable[..., object], tmp_path: Path
) -> None:
    with pytest.raises((KeyboardInterrupt, process.Ended)), process.ended_once():
        run([PYTHON, "-c", TIDY, str(int(number))], cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another person")
def test_a_lock_that_root_makes_is_of_the_folders_owner_and_group(tmp_path: Path) -> None:
    os.chown(tmp_path, 54_321, 54_322)
    with hold_lock(tmp_path / "target", "it"):
        status = (tmp_path / ".target.lock").stat()
    assert (status.st_uid, status.st_gid) == (54_321, 54_322)


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


HOLDER = """
import sys
from pathlib import Path
from stacks.core.disk import hold_lock
with hold_lock(Path(sys.argv[1]), "it"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_is_waited_for_and_what_was_left_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "a"
    for name in (".a.12345678.part", ".a.b.12345678.part", ".ab.12345678.part"):
        (tmp_path / name).mkdir()
    with started(HOLDER, target) as first:
        assert read_line(first) == "held\n"
        left = sorted(path.name for path in tmp_path.iterdir())
        assert left == [".a.b.12345678.part", ".a.lock", ".ab.12345678.part"]
        with started(HOLDER, target) as second:
            assert second.stderr
            line = second.stderr.readline()
            # A lock falls with its holder.
            first.kill()
            assert second.communicate("\n")[0] == "held\n"
            assert line.startswith(f"waiting: it is being made by process {first.pid}: ")
        assert second.returncode == 0


def test_a_link_in_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "lock").symlink_to("file")
    with pytest.raises(OSError, match="symbolic links"):
        locking.acquire(tmp_path / "lock", fcntl.LOCK_EX)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_the_holder_is_named_as_a_person_typed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "lock"
    assert locking.holders(lock) == "a process that has ended"
    for words, shown in (
        (["-c", "build", "a b"], "./invoke build 'a b'"),
        (["mine.py", "https://me:hunter2@host/x"], "mine.py https://host/x"),
        (["x" * (locking.LONGEST + 1)], "x" * locking.LONGEST + " ..."),
    ):
        monkeypatch.setattr(sys, "argv", words)
        descriptor = locking.acquire(lock, fcntl.LOCK_EX)
        assert descriptor is not None
        os.close(descriptor)
        assert locking.holders(lock) == f"process {os.getpid()}: {shown}"
    lock.write_text("99999999: ./invoke build")
    assert locking.holders(lock) == "a process that is not seen from here"


def test_what_a_thread_runs_is_ended_with_its_children(tmp_path: Path) -> None:
    """The shell's child holds its output open, and this process waits for the thread.

    Python may see a signal only when the next one comes, if it comes as the main thread begins to
    wait. None comes before the pool knows its thread: it would not be waited for, and the next
    signal would find this process without a handler.
    """
    late, begin = tmp_path / "late", tmp_path / "begin"
    os.mkfifo(begin)
    kill = f"kill -TERM {os.getpid()}"
    tell = f"read x < {begin}; (sleep 20; touch {late}) & {kill}; sleep 0.2; {kill}; wait"
    with pytest.raises(process.Ended), process.ended_once(), ThreadPoolExecutor() as pool:
        done = pool.submit(call, ["sh", "-c", tell])
        begin.write_text("begin\n")
        done.result()
    assert not late.exists()
    # So is what a thread is about to run then.
    with ThreadPoolExecutor() as pool, pytest.raises(CommandError, match="exit status -15"):
        pool.submit(call, ["sleep", "60"]).result()


def test_a_file_system_without_locks_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> int:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(disk, "acquire_folder", refuse)
    with temporary_folder(tmp_path, "x-") as folder:
        assert not remove_leftover(folder)
    assert list(tmp_path.iterdir()) == []
