"""The process over the suite's: it ends one that hangs, and tells of one that dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

PROGRAM = """\
import atexit, ctypes, os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from verify.core import program, progress, watch

watch.SECOND_GRACE = 0.2
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
        return program.end("verify", lambda arguments: run(folder), arguments)

    return watch.over("verify", suite, {limit})

sys.exit(program.end("verify", watched, Arguments))
"""
HOLDING, RELEASING = "deadlock(ctypes.PyDLL(None))", "deadlock(ctypes.CDLL(None))"

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Give the function that starts a program whose suite does one thing."""

    def started(part: str, limit: float = 60, session: bool = False) -> subprocess.Popen[str]:
        text = PROGRAM.format(part=part, limit=limit)
        return subprocess.Popen(
            [sys.executable, "-c", text, str(REPOSITORY)],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=session,
        )

    return started


def begun(process: subprocess.Popen[str]) -> tuple[Path, int]:
    """Return the folder and the number of the process that does the work."""
    assert process.stdout
    return Path(process.stdout.readline().strip()), int(process.stdout.readline())


@pytest.mark.parametrize("part", [HOLDING, RELEASING])
def test_what_hangs_is_named_and_ended(part: str, start: Start, tmp_path: Path) -> None:
    with start(part, limit=1) as process:
        out, error = process.communicate()
    assert process.returncode == 1
    assert error.startswith("verify: `checking this` has not gone on for 1 s and was ended\n")
    assert "  fix: a library that it calls does not return" in error
    assert "--limit" in error and "Traceback" not in error
    with pytest.raises(ProcessLookupError):
        os.kill(int(out.splitlines()[1]), 0)
    assert not list(tmp_path.iterdir())


def test_what_goes_on_is_not_ended_however_long_it_takes(start: Start) -> None:
    goes_on = "end = time.time() + 1.5\n    while time.time() < end: progress.note('checking on')"
    with start(f"{goes_on}\n    return 3", limit=0.5) as process:
        _, error = process.communicate()
    assert (process.returncode, error) == (3, "")


def test_its_status_is_the_suites_and_exit_handlers_find_its_folder(
    start: Start, tmp_path: Path
) -> None:
    with start("return 0") as process:
        out, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert out.splitlines()[2:] == ["folder True"]
    assert not list(tmp_path.iterdir())


def test_what_dies_is_told(start: Start, tmp_path: Path) -> None:
    with start("os.kill(os.getpid(), signal.SIGSEGV)") as process:
        _, error = process.communicate()
    assert process.returncode == 1
    assert error.startswith("verify: the process died by signal 11 at `checking this`\n  fix: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("everyone", [True, False])
def test_an_interrupt_ends_what_runs(everyone: bool, start: Start, tmp_path: Path) -> None:
    with start("while True: signal.pause()", session=True) as process:
        begun(process)
        if everyone:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert (process.returncode, error) == (130, "interrupted\n")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_ends_what_hangs(start: Start, tmp_path: Path) -> None:
    with start(HOLDING) as process:
        begun(process)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert (process.returncode, error) == (130, "interrupted, while checking this\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_one_ends_both(number: signal.Signals, start: Start, tmp_path: Path) -> None:
    with start(HOLDING) as process:
        folder, _ = begun(process)
        assert folder.is_dir()
        process.send_signal(number)
        # Both have the pipe's other end: it closes with the last of them.
        _, error = process.communicate()
    assert (process.returncode, error) == (-number, "")
    assert not list(tmp_path.iterdir())


def test_it_does_not_outlive_the_process_over_it(start: Start) -> None:
    with start(HOLDING) as process:
        begun(process)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_signals_that_were_turned_off_stay_so(start: Start) -> None:
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
