"""Programs that answer line by line, and busy loops: none is left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stacks.bench.processes import NoAnswerError, SuspendedProcess, processor_seconds
from stacks.bench.rounds import busy_loops
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
    if asked.get("do") == "die": os.kill(os.getpid(), 9)
    say(pid=os.getpid(), asked=asked)
"""
# Computes in a child, answers when that has ended, and waits.
PARENT = """
import os, time
if not os.fork():
    while time.process_time() < 0.2: pass
    os._exit(0)
os.wait()
print("{}", flush=True)
input()
"""
# Prints the process IDs of two loops, and waits.
LOOPS = """
from stacks.bench.rounds import busy_loops
with busy_loops(2) as loops:
    print(*loops, flush=True)
    input()
"""
# Starts a worker that asks to end with its parent, prints its process ID, and waits.
WORKER = """
import os, sys
from stacks.bench.processes import SuspendedProcess
code = "import sys; sys.path.insert(0, sys.argv[1])\\n" \\
    "from verify.core import process; process.end_with_parent()\\n" \\
    "import json, os; print(json.dumps({'pid': os.getpid()})); sys.stdout.flush(); input()"
worker = SuspendedProcess([sys.executable, "-c", code, sys.argv[1]], os.environ, 30.0)
print(worker.answer()["pid"], flush=True)
input()
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


def test_it_answers_is_stopped_after_each_answer_and_killed_is_gone(
    program: SuspendedProcess,
) -> None:
    pid = program.answer()["pid"]
    assert is_stopped(pid)
    assert program.ask(calls=3) == {"pid": pid, "asked": {"calls": 3}}
    assert is_stopped(pid)
    assert 0 < program.processor_seconds() < 30
    program.kill()
    assert state(pid) == "" and processor_seconds(pid) == 0


def test_what_its_ended_children_computed_is_its_time() -> None:
    parent = SuspendedProcess([sys.executable, "-c", PARENT], os.environ, 30.0)
    try:
        parent.answer()
        assert parent.processor_seconds() > 0.15
    finally:
        parent.kill()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("fail", r"(?s)no memory left.*found:    it ended with exit status 1"),
        ("die", "it was killed by SIGKILL"),
        ("mumble", r"(?s)cannot be read.*4 of 5"),
    ],
)
def test_what_is_no_answer(program: SuspendedProcess, asked: str, message: str) -> None:
    program.answer()
    with pytest.raises(CommandError, match=message):
        program.ask(do=asked)


def test_it_that_hangs_is_given_up() -> None:
    program = SuspendedProcess([sys.executable, "-c", "input()"], os.environ, 0.2)
    try:
        with pytest.raises(NoAnswerError, match=r"(?s)an answer within 0.2 s.*--limit"):
            program.answer()
    finally:
        program.kill()


def test_the_loops_are_busy_on_any_processor_and_gone_in_the_end() -> None:
    usable = os.sched_getaffinity(0)
    with pytest.raises(ZeroDivisionError), busy_loops(2) as pids:
        assert len(set(pids)) == 2
        assert all(os.sched_getaffinity(pid) == usable for pid in pids)
        before = processor_seconds(pids[0])
        while processor_seconds(pids[0]) == before:
            pass
        raise ZeroDivisionError
    assert not any(map(state, pids))
    with busy_loops(0) as pids:
        assert pids == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("code", [WORKER, LOOPS], ids=["worker", "loops"])
def test_no_process_outlives_the_bench(code: str, number: signal.Signals) -> None:
    variables: dict[str, Any] = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(REPOSITORY)],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with owner:
        assert owner.stdout
        pids = [int(word) for word in owner.stdout.readline().split()]
        gone = [os.pidfd_open(pid) for pid in pids]
        # Python notices one that comes just before it begins to read only when the next one comes.
        while owner.poll() is None:
            owner.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                owner.wait(5)
    for pid, descriptor in zip(pids, gone, strict=True):
        # Readable when the process is gone.
        assert select.select([descriptor], [], [], 30.0)[0], f"{pid} is still there"
        os.close(descriptor)
