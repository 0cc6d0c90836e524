"""A program that answers line by line: stopped between its answers, and never left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core.disk import REPOSITORY
from stacks.core.process import CommandError

# Answers with its process number and what it was asked; does as it is told.
PROGRAM = """
import json, os, sys, time
def say(**what):
    sys.stdout.write(json.dumps(what) + "\\n"); sys.stdout.flush()
# The system counts a process's time in ticks, of which a short start may take none.
while time.process_time() < 0.05: pass
say(pid=os.getpid())
for line in iter(sys.stdin.readline, ""):
    asked = json.loads(line)
    if asked.get("do") == "hang": time.sleep(600)
    if asked.get("do") == "mumble": sys.stdout.write("4 of 5\\n"); sys.stdout.flush(); continue
    if asked.get("do") == "fail": sys.exit("no memory left")
    say(pid=os.getpid(), asked=asked)
"""


@pytest.fixture
def program() -> Iterator[SuspendedProcess]:
    staying = SuspendedProcess([sys.executable, "-c", PROGRAM], os.environ, 30.0)
    yield staying
    staying.kill()


def state(pid: int) -> str:
    """Return the letter of a process's state, nothing where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def is_stopped(pid: int) -> bool:
    # The signal takes effect when the process next gets a processor.
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
    return state(pid) == "T"


def test_it_answers_and_is_stopped_after_each_answer(program: SuspendedProcess) -> None:
    pid = program.answer()["pid"]
    assert is_stopped(pid)
    assert program.ask(calls=3) == {"pid": pid, "asked": {"calls": 3}}
    assert is_stopped(pid)
    assert 0 < program.processor_seconds() < 30


def test_killed_while_it_is_stopped_it_is_gone(program: SuspendedProcess) -> None:
    pid = program.answer()["pid"]
    assert is_stopped(pid)
    program.kill()
    assert state(pid) == ""


def test_it_that_ends_says_why(program: SuspendedProcess) -> None:
    program.answer()
    with pytest.raises(CommandError) as caught:
        program.ask(do="fail")
    assert "no memory left" in str(caught.value)
    assert "found:    it ended with exit status 1" in str(caught.value)


def test_it_that_is_killed_by_others_is_told_of(program: SuspendedProcess) -> None:
    pid = program.answer()["pid"]
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(CommandError, match="it was killed by SIGKILL"):
        program.ask(calls=1)


def test_words_that_are_no_answer(program: SuspendedProcess) -> None:
    program.answer()
    with pytest.raises(CommandError, match=r"(?s)cannot be read.*4 of 5"):
        program.ask(do="mumble")


def test_it_that_hangs_is_given_up() -> None:
    program = SuspendedProcess([sys.executable, "-c", "input()"], os.environ, 0.2)
    try:
        with pytest.raises(NoAnswerError, match=r"(?s)an answer within 0.2 s.*--limit"):
            program.answer()
    finally:
        program.kill()


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="cannot run /nowhere/python"):
        SuspendedProcess(["/nowhere/python"], os.environ, 1.0)


# Starts a worker that asks to end with its parent, says its number, and waits.
OWNER = """
import os, sys
from stacks.bench.suspended_process import SuspendedProcess
code = "import sys; sys.path.insert(0, sys.argv[1])\\n" \\
    "from verify.core import process; process.end_with_parent()\\n" \\
    "import json, os; print(json.dumps({'pid': os.getpid()})); sys.stdout.flush(); input()"
worker = SuspendedProcess([sys.executable, "-c", code, sys.argv[1]], os.environ, 30.0)
print(worker.answer()["pid"], flush=True)
input()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_stopped_worker_outlives_the_bench(number: signal.Signals) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(REPOSITORY)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with owner:
        assert owner.stdout
        worker = int(owner.stdout.readline())
        gone = os.pidfd_open(worker)
        owner.send_signal(number)
        owner.wait()
    try:
        # Readable when the process is gone.
        assert select.select([gone], [], [], 30.0)[0], "the worker is still there"
    finally:
        os.close(gone)
    assert state(worker) in ("", "Z", "X")
