"""A process that builds packages: results, its death, and that of the one that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from stacks.channel.build_process import ROOT, BuildProcess
from stacks.core.errors import StacksError
from stacks.core.process import call


def test_results_come_back_and_prints_do_not_disturb_them() -> None:
    process = BuildProcess()
    try:
        assert process.call(divmod, 7, 2) == (3, 1)
        assert process.call(print, "for the person") is None
        assert process.call(call, ["echo", "a"]) == "a\n"
    finally:
        process.end()


def test_an_error_comes_back_with_its_traceback() -> None:
    process = BuildProcess()
    try:
        with pytest.raises(ZeroDivisionError) as caught:
            process.call(divmod, 1, 0)
        assert "function(*arguments)" in str(caught.value.__cause__)
        with pytest.raises(StacksError, match="cannot run no-such-command"):
            process.call(call, ["no-such-command"])
        with pytest.raises(TypeError) as caught_too:
            process.call(threading.Lock)
        assert "cannot pickle" in str(caught_too.value)
        assert process.call(divmod, 7, 2) == (3, 1)
    finally:
        process.end()


def test_a_killed_process_is_an_error() -> None:
    process = BuildProcess()
    try:
        with pytest.raises(StacksError, match="a process that built a package was killed"):
            process.call(os._exit, 1)
        with pytest.raises(StacksError, match="was killed"):
            process.call(divmod, 7, 2)
    finally:
        process.end()


def test_it_ends_without_a_word_with_all_it_has_started_when_its_parent_is_killed() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from stacks.channel.build_process import BuildProcess\n"
        "from stacks.core.process import call\n"
        "process = BuildProcess()\n"
        "print(process._process.pid, flush=True)\n"
        "process.call(call, ['sh', '-c', 'exec sleep 1000'])\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert parent.stdout
    pid = int(parent.stdout.readline())
    child = psutil.Process(pid)
    while not any(each.name() == "sleep" for each in child.children(recursive=True)):
        assert child.is_running()
    below = child.children(recursive=True)
    parent.send_signal(signal.SIGKILL)
    # The child, too, holds the pipe until it has ended.
    assert parent.communicate()[1] == ""
    until = time.monotonic() + 60
    while any(map(_runs, (child, *below))):
        assert time.monotonic() < until


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_process_whose_parent_was_killed_at_once_prints_nothing() -> None:
    code = (
        f"import os, signal, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from stacks.channel.build_process import BuildProcess\n"
        "BuildProcess(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
