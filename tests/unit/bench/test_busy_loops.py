"""Busy loops: busy during the block, and gone after it, however it ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.bench import busy_loops as module
from stacks.bench.busy_loops import BusyLoops, busy_loops
from stacks.core.disk import REPOSITORY
from stacks.core.process import CommandError

# Prints the process IDs of two loops, and waits.
PROGRAM = """
import signal
from stacks.bench.busy_loops import busy_loops
with busy_loops(2) as loops:
    print(*(process.pid for process in loops.processes), flush=True)
    signal.pause()
"""


def is_alive(process: int) -> bool:
    return Path(f"/proc/{process}").is_dir()


def test_the_loops_are_busy_on_any_processor_and_gone_in_the_end() -> None:
    usable = os.sched_getaffinity(0)
    with busy_loops(2) as loops:
        pids = [process.pid for process in loops.processes]
        assert len(set(pids)) == 2 and all(is_alive(pid) for pid in pids)
        assert all(os.sched_getaffinity(pid) == usable for pid in pids)
        before = loops.processor_seconds()
        while loops.processor_seconds() == before:
            pass
    assert not any(is_alive(pid) for pid in pids)
    assert loops.processor_seconds() == 0


def test_no_loops() -> None:
    with busy_loops(0) as loops:
        assert loops == BusyLoops([]) and loops.processor_seconds() == 0


def test_the_loops_are_gone_after_an_error() -> None:
    pids = []
    with pytest.raises(ZeroDivisionError), busy_loops(2) as loops:
        pids += [process.pid for process in loops.processes]
        raise ZeroDivisionError
    assert len(pids) == 2 and not any(is_alive(pid) for pid in pids)


def test_a_loop_that_does_not_begin_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOP", "raise SystemExit")
    with pytest.raises(CommandError, match="a busy loop"), busy_loops(1):
        pass


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_loops_end_with_the_program_that_started_them(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        assert program.stdout
        pids = [int(word) for word in program.stdout.readline().split()]
        assert len(pids) == 2
        loops = [os.pidfd_open(pid) for pid in pids]
        program.send_signal(number)
    for loop in loops:
        assert select.select([loop], [], [], 30)[0], "a loop outlives its program"
        os.close(loop)
