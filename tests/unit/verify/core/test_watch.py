"""The supervisor of the suite: it kills one that hangs, and reports one that dies."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from integration.programs import opened

from stacks.core.disk import REPOSITORY
from verify.core import ends

PROGRAM = """\
import atexit, ctypes, os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from verify.core import causes, program, progress, watch

progress.BEAT = {beat}
mutex = ctypes.create_string_buffer(64)

def deadlock(library):
    for _ in range(2):
        library.pthread_mutex_lock(mutex)

def run(folder):
    @atexit.register
    def last():
        print("folder " + str(os.path.isdir(folder)))
    progress.note("checking this")
    print(folder)
    print(os.getpid())
    sys.stdout.flush()
    return part(folder)

def part(folder):
    {part}

class Arguments(object):
    debug = False

def watched(arguments):
    def suite(folder):
        return program.exit_status("verify", lambda arguments: run(folder), arguments)

    return watch.supervise("verify", suite, {limit}, cause_of)

def cause_of(words):
    if "FATAL ERROR" in words:
        return causes.Cause("a library said so", "link another")

sys.exit(program.exit_status("verify", watched, Arguments))
"""
HOLDING, RELEASING = "deadlock(ctypes.PyDLL(None))", "deadlock(ctypes.CDLL(None))"
# Like a compiler that the framework has started, which starts programs too.
COMPILING = "import subprocess; subprocess.call(['sh', '-c', 'echo 1; sleep 60 & sleep 60'])"
STARTED = COMPILING.replace("call", "Popen")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Give a function that starts a program whose suite is one statement."""

    def started(
        part: str, limit: float = 60, beat: float = 15, wrapper: Sequence[str] = ()
    ) -> subprocess.Popen[str]:
        text = PROGRAM.format(part=part, limit=limit, beat=beat)
        words = [*wrapper, sys.executable, "-c", text, str(REPOSITORY)]
        env = {**os.environ, "TMPDIR": str(tmp_path)}
        return opened(words, stdin=subprocess.DEVNULL, env=env, start_new_session=True)

    return started


def begun(process: subprocess.Popen[str]) -> tuple[Path, int]:
    """Return the temporary folder and the process id of the suite."""
    assert process.stdout
    return Path(process.stdout.readline().strip()), int(process.stdout.readline())


@pytest.mark.parametrize("part", [HOLDING, RELEASING])
def test_a_step_that_hangs_is_named_and_killed(part: str, start: Start, tmp_path: Path) -> None:
    with start(part, limit=1, beat=0.01) as process:
        out, error = process.communicate()
    assert process.returncode == 1
    # A log says what takes long.
    assert re.search(r"^  checking this \.\.\. \d+ s$", error, re.MULTILINE)
    # The library that waits is called by Python's ctypes.
    where = (
        r"\nverify: `checking this` made no progress for 1 s in (lib|_ctypes|python)\S+ and was "
    )
    assert re.search(where + r"killed\n  fix: ", error)
    assert "--limit" in error and "Traceback" not in error
    with pytest.raises(ProcessLookupError):
        os.kill(int(out.splitlines()[1]), 0)
    assert not list(tmp_path.iterdir())


def test_of_a_death_the_variables_that_may_be_the_reason_are_named(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKL_INTERFACE_LAYER", "ILP64")
    with start("time.sleep(1); os.kill(os.getpid(), signal.SIGSEGV)", beat=0.01) as process:
        soon, _, error = process.communicate()[1].partition("\nverify: ")
    # Long before a step that hangs is killed.
    assert "  checking this takes long\n" in soon
    assert re.search(r"  set here: MKL_INTERFACE_LAYER=ILP64, which .*\n(.*\n)*  fix: if it ", soon)
    assert "\n  set here: MKL_INTERFACE_LAYER=ILP64, which has MKL read" in error
    assert re.search(r"\n  fix: unset (\w+ )*MKL_INTERFACE_LAYER[ ,]", error)


def test_a_suite_that_makes_progress_is_not_killed_at_the_limit(start: Start) -> None:
    busy = "end = time.time() + 1.5\n    while time.time() < end: progress.note('checking on')"
    with start(f"{busy}\n    return 3", limit=0.5) as process:
        assert (process.communicate()[1], process.returncode) == ("", 3)


MKL = "Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so.2 or libmkl_def.so.2."
WRITES = f"os.write(2, b'{MKL}\\n')"
KNOWN = f"{MKL}\nverify: %s\n  cause: a library said so\n  fix: link another\n"
ENDED = "the process was ended with status %d at `checking this`"
FIXED = f"verify: {ENDED}\n  fix: .*"
DEATH = "the process died by signal %d at `checking this`"
DIED = f"verify: {DEATH}%s"


@pytest.mark.parametrize(
    ("part", "status", "error"),
    [
        ("return 0", 0, ""),
        # Of an exception no library is blamed.
        ("raise ValueError('mine')", 1, "Traceback .*ValueError: mine\n"),
        # Its programs are ended with it.
        *(
            (f"{STARTED}; os.kill(os.getpid(), {number:d})", 1, DIED % (number, end))
            for number, end in (
                (signal.SIGSEGV, ".*a library .* crashed.*"),
                (signal.SIGINT, ".*a library .* crashed.*"),
                (signal.SIGILL, ": an illegal instruction.*fix: .*for this processor\n"),
                (signal.SIGTERM, ": another program sent it\n  fix: .*"),
                (signal.SIGKILL, ": it was killed.*"),
            )
        ),
        ("raise MemoryError", 1, f"MemoryError\n{FIXED % 1}"),
        ("sys.exit(0)", 1, FIXED % 0),
        ("ctypes.CDLL(None).exit(3)", 1, FIXED % 3),
        ("os._exit(1)", 1, FIXED % 1),
        (f"{WRITES}; os._exit(2)", 1, KNOWN % (ENDED % 2)),
        # As memory is freed: not at a step.
        ("atexit.register(os.abort); return 0", 1, "verify: .* by signal 6 at `its end`.*"),
        # Nobody has pressed ctrl-C.
        (f"{WRITES}; os.kill(os.getpid(), signal.SIGINT)", 1, KNOWN % DEATH % 2),
        (
            "os.write(2, b'in C\\n'); sys.stderr.write('in Python\\n'); return 3",
            3,
            "in Python\nin C\n",
        ),
        # The suite's exit handlers have their folder.
        (f"{STARTED}; sys.stdin.read(); return 0", 0, ""),
    ],
)
def test_how_a_suite_ends(part: str, status: int, error: str, start: Start, tmp_path: Path) -> None:
    with start(part) as process:
        # Shorter than the program of STARTED.
        out, found = process.communicate(timeout=50)
    assert process.returncode == status
    assert re.fullmatch(f"(?s){error}", found)
    assert status or "folder True" in out
    assert not list(tmp_path.iterdir())


INTERRUPTED = "interrupted, while checking this\n"


@pytest.mark.parametrize(
    ("part", "number", "group", "error"),
    [
        ("while True: signal.pause()", signal.SIGINT, True, INTERRUPTED),
        (HOLDING, signal.SIGINT, False, INTERRUPTED),
        (HOLDING, signal.SIGTERM, False, ""),
        ("while True: signal.pause()", signal.SIGTERM, True, ""),
        (HOLDING, signal.SIGHUP, False, ""),
    ],
)
def test_a_signal_ends_the_suite(
    part: str, number: signal.Signals, group: bool, error: str, start: Start, tmp_path: Path
) -> None:
    with start(part) as process:
        begun(process)
        (os.killpg if group else os.kill)(process.pid, number)
        # All have the pipe's writing end: it closes with the last of them.
        _, found = process.communicate()
    status = 130 if number == signal.SIGINT else -number
    assert (process.returncode, found) == (status, error)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("part", "kill"), [(HOLDING, os.kill), (COMPILING, os.killpg)])
def test_a_killed_supervisor_ends_the_suite_and_the_next_run_removes_its_folder(
    part: str, kill: Callable[[int, int], None], start: Start, tmp_path: Path
) -> None:
    with start(part) as process:
        folder, _ = begun(process)
        kill(process.pid, signal.SIGKILL)
        # All have the pipe's writing end: it closes with the last of them.
        process.communicate(timeout=10)
    assert list(tmp_path.iterdir()) == [folder]
    with start("return 0") as process:
        process.communicate(timeout=10)
    assert not list(tmp_path.iterdir())


def test_other_children_of_the_supervisor_live_on(start: Start) -> None:
    with start("return 0", wrapper=["sh", "-c", 'sleep 60 & echo $!; exec "$@"', "sh"]) as process:
        assert process.stdout
        other = int(process.stdout.readline())
        # The other program holds the pipes.
        assert process.wait(timeout=10) == 0
        os.kill(other, signal.SIGKILL)


def test_ignored_signals_stay_ignored(start: Start) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start("while True: signal.pause()")
    finally:
        signal.signal(signal.SIGHUP, before)
    with process:
        begun(process)
        for number in (signal.SIGHUP, signal.SIGTERM):
            process.send_signal(number)
        process.communicate()
    assert process.returncode == -signal.SIGTERM


def test_a_limit_of_processor_time_is_named(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    # No variable is its reason.
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    with start("while True: pass", wrapper=["sh", "-c", 'ulimit -t 2; exec "$@"', "sh"]) as process:
        error = process.communicate(timeout=50)[1]
    used = ": its processor time is used up\n  fix: raise the limit: ulimit -t unlimited\n"
    assert error == DIED % (signal.SIGXCPU, used)


@pytest.mark.parametrize(
    ("number", "kills", "free", "what", "fix"),
    [
        (signal.SIGKILL, 2, 1 << 30, "ended 2 programs as memory ran out, which is 5 MiB by F", ""),
        (signal.SIGKILL, 0, 1 << 30, "it was killed, while there was memory", "limits the time"),
        (signal.SIGKILL, None, 1 << 30, ": it was killed", "whether memory ran out"),
        (signal.SIGBUS, 0, 0, "/tmp is full", "free some space"),
        (signal.SIGBUS, 0, 1 << 30, "a file that it had mapped", "install again"),
    ],
)
def test_of_a_signal_what_was_observed_is_said(
    number: int, kills: int | None, free: int, what: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimpleNamespace(f_blocks=1, f_bavail=free, f_frsize=1)
    monkeypatch.setattr(ends.os, "statvfs", lambda place: disk)
    monkeypatch.setattr(ends.machine, "memory_and_file", lambda: (5 << 20, "F"))
    found = ends.by_signal(number, "/tmp", kills)
    assert what in found[0] and fix in found[1]
