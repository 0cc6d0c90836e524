"""The supervisor of the suite: it kills one that hangs, and reports one that dies."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

PROGRAM = """\
import atexit, ctypes, os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from verify.core import causes, program, progress, watch

watch.SECOND_GRACE = 0.2
watch.BEAT = {beat}
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

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Give a function that starts a program whose suite is one statement."""

    def started(
        part: str,
        limit: float = 60,
        session: bool = False,
        wrapper: Sequence[str] = (),
        beat: float = 15,
    ) -> subprocess.Popen[str]:
        text = PROGRAM.format(part=part, limit=limit, beat=beat)
        return subprocess.Popen(
            [*wrapper, sys.executable, "-c", text, str(REPOSITORY)],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=session,
        )

    return started


def begun(process: subprocess.Popen[str]) -> tuple[Path, int]:
    """Return the temporary folder and the process id of the suite."""
    assert process.stdout
    return Path(process.stdout.readline().strip()), int(process.stdout.readline())


@pytest.mark.parametrize("part", [HOLDING, RELEASING])
def test_a_step_that_hangs_is_named_and_killed(part: str, start: Start, tmp_path: Path) -> None:
    with start(part, limit=1) as process:
        out, error = process.communicate()
    assert process.returncode == 1
    assert error.startswith("verify: `checking this` made no progress for 1 s and was killed\n")
    assert "  fix: a library that it calls does not return" in error
    assert "--limit" in error and "Traceback" not in error
    with pytest.raises(ProcessLookupError):
        os.kill(int(out.splitlines()[1]), 0)
    assert not list(tmp_path.iterdir())


def test_a_suite_that_makes_progress_is_not_killed_at_the_limit(start: Start) -> None:
    busy = "end = time.time() + 1.5\n    while time.time() < end: progress.note('checking on')"
    with start(f"{busy}\n    return 3", limit=0.5) as process:
        _, error = process.communicate()
    assert (process.returncode, error) == (3, "")


def test_a_log_says_what_takes_long(start: Start) -> None:
    with start(HOLDING, limit=1, beat=0.01) as process:
        _, error = process.communicate()
    assert re.search(r"^  checking this \.\.\. \d s$", error, re.MULTILINE)


def test_the_suites_status_is_returned_and_its_exit_handlers_have_their_folder(
    start: Start, tmp_path: Path
) -> None:
    with start("return 0") as process:
        out, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert out.splitlines()[2:] == ["folder True"]
    assert not list(tmp_path.iterdir())


def test_an_exception_has_its_traceback_and_blames_no_library(start: Start) -> None:
    with start("raise ValueError('mine')") as process:
        _, error = process.communicate()
    assert process.returncode == 1
    assert error.endswith("ValueError: mine\n") and "the process was ended" not in error


def test_a_suite_that_dies_is_reported_with_its_step(start: Start, tmp_path: Path) -> None:
    with start("os.kill(os.getpid(), signal.SIGSEGV)") as process:
        _, error = process.communicate()
    assert process.returncode == 1
    assert error.startswith("verify: the process died by signal 11 at `checking this`\n  fix: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "end", ["sys.exit(0)", "ctypes.CDLL(None).exit(3)", *(f"os._exit({n})" for n in range(3))]
)
def test_a_suite_that_a_library_ends_has_not_passed(end: str, start: Start) -> None:
    with start(end) as process:
        _, error = process.communicate()
    assert process.returncode == 1
    assert error.startswith("verify: the process was ended with status ")
    assert " at `checking this`\n  fix: " in error


def test_what_a_library_says_as_it_ends_the_suite_is_the_cause(start: Start) -> None:
    words = "Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so.2 or libmkl_def.so.2."
    with start(f"os.write(2, b'{words}\\n'); os._exit(2)") as process:
        _, error = process.communicate()
    assert process.returncode == 1
    assert error == (
        f"{words}\nverify: the process was ended with status 2 at `checking this`\n"
        "  cause: a library said so\n  fix: link another\n"
    )


def test_what_c_code_writes_to_standard_error_is_shown_in_the_end(start: Start) -> None:
    with start("os.write(2, b'in C\\n'); sys.stderr.write('in Python\\n'); return 3") as process:
        _, error = process.communicate()
    assert (process.returncode, error) == (3, "in Python\nin C\n")


@pytest.mark.parametrize("group", [True, False])
def test_an_interrupt_ends_a_running_suite(group: bool, start: Start, tmp_path: Path) -> None:
    with start("while True: signal.pause()", session=True) as process:
        begun(process)
        if group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert (process.returncode, error) == (130, "interrupted\n")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_kills_a_hanging_suite(start: Start, tmp_path: Path) -> None:
    with start(HOLDING) as process:
        begun(process)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert (process.returncode, error) == (130, "interrupted, while checking this\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_supervisor_ends_the_suite(
    number: signal.Signals, start: Start, tmp_path: Path
) -> None:
    with start(HOLDING) as process:
        folder, _ = begun(process)
        assert folder.is_dir()
        process.send_signal(number)
        # Both have the pipe's writing end: it closes with the last of them.
        _, error = process.communicate()
    assert (process.returncode, error) == (-number, "")
    assert not list(tmp_path.iterdir())


def test_the_suite_does_not_outlive_a_killed_supervisor(start: Start) -> None:
    with start(HOLDING) as process:
        begun(process)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL


# Like a compiler that the framework has started, which starts programs too.
COMPILING = "import subprocess; subprocess.call(['sh', '-c', 'echo 1; sleep 60 & sleep 60'])"


@pytest.mark.parametrize("killed", ["supervisor", "guard", "suite"])
def test_a_killed_process_leaves_no_process_and_no_folder(
    killed: str, start: Start, tmp_path: Path
) -> None:
    with start(COMPILING) as process:
        assert process.stdout
        folder, suite = begun(process)
        process.stdout.readline()
        status = Path(f"/proc/{suite}/status").read_text()
        guard = int(status.partition("PPid:")[2].split()[0])
        assert folder.is_dir() and guard != process.pid
        os.kill({"supervisor": process.pid, "guard": guard, "suite": suite}[killed], signal.SIGKILL)
        # Every process has the writing end of these pipes: this waits for the last of them.
        error = process.communicate(timeout=10)[1]
    assert not list(tmp_path.iterdir())
    messages = {"supervisor": "", "guard": "a process of the suite was killed", "suite": "signal 9"}
    assert messages[killed] in error
    assert process.returncode == (-signal.SIGKILL if killed == "supervisor" else 1)


def test_the_folder_of_a_run_that_was_killed_at_once_is_removed_by_the_next(
    start: Start, tmp_path: Path
) -> None:
    with start(COMPILING, session=True) as process:
        folder, _ = begun(process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=10)
    assert list(tmp_path.iterdir()) == [folder]
    with start("return 0") as process:
        process.communicate(timeout=10)
    assert not list(tmp_path.iterdir())


def test_programs_of_a_suite_that_ends_are_ended(start: Start) -> None:
    part = COMPILING.replace("call", "Popen") + "; sys.stdin.read(); return 0"
    with start(part) as process:
        # The program's own line may stand between or in the middle of the suite's.
        assert "folder True" in process.communicate(timeout=10)[0]
    assert process.returncode == 0


def test_other_children_of_the_supervisor_live_on(start: Start, tmp_path: Path) -> None:
    script = 'sleep 60 & echo $!; exec "$@"'
    with start("return 0", wrapper=["sh", "-c", script, "sh"]) as process:
        assert process.stdout
        other = int(process.stdout.readline())
        # The other program holds the pipes.
        assert process.wait(timeout=10) == 0
        os.kill(other, signal.SIGKILL)


def test_ignored_signals_stay_ignored(start: Start) -> None:
    part = "print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN); return 0"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start(part)
    finally:
        signal.signal(signal.SIGHUP, before)
    with process:
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate()
    assert (process.returncode, out.splitlines()[2]) == (0, "True")


# The suite ends while the guard is within select(), before it sleeps: between these two functions
# of C no instruction of Python is run.
ENDS_AS_THE_GUARD_BEGINS_TO_WAIT = """\
import itertools, os, select, sys
sys.path.insert(0, sys.argv[1])
from verify.core import watch

def readable(sources, seconds):
    if not seconds:
        return select.select(sources, [], [], 0)[0]
    # Without the pipe of the steps, whose end wakes the guard as well.
    others = sources[-2:]
    ends = map(os.waitid, [os.P_ALL], [0], [os.WEXITED | os.WNOWAIT])
    waits = map(select.select, [others], [[]], [[]], [seconds])
    found = list(itertools.chain(ends, waits))[-1][0]
    if not found:
        print("it slept", file=sys.stderr)
    return found

watch._readable = readable
sys.exit(watch.supervise("verify", lambda folder: 0, 2))
"""


def test_a_suite_that_ends_as_the_guard_begins_to_wait_wakes_it() -> None:
    words = [sys.executable, "-c", ENDS_AS_THE_GUARD_BEGINS_TO_WAIT, str(REPOSITORY)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
