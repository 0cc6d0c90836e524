from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

import psutil
import pytest

from stacks.core import process
from stacks.core.process import CommandError, call, run_attached, run_supervised

PYTHON = sys.executable


def test_what_a_program_prints() -> None:
    # Bytes that are no text, and a status that is accepted.
    code = "import os, sys; print('a b', flush=True); os.write(1, b'\\xff'); sys.exit(3)"
    assert call([PYTHON, "-c", code], accepted=(0, 3)) == "a b\n\ufffd"


def test_the_error_of_a_program_has_its_output() -> None:
    code = "import sys; print('out'); print('because', file=sys.stderr); sys.exit(3)"
    with pytest.raises(CommandError) as caught:
        call([PYTHON, "-c", code])
    assert caught.value.what.endswith("out\nbecause")
    assert (caught.value.expected, caught.value.found) == ("exit status 0", "exit status 3")


def test_a_program_that_is_missing() -> None:
    with pytest.raises(CommandError, match="cannot run no-such-program: No such file"):
        call(["no-such-program", "x y"])
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        run_attached(["no-such-program"])


def test_the_status_of_an_attached_program() -> None:
    assert run_attached([PYTHON, "-c", "import sys; sys.exit(7)"]) == 7


@pytest.mark.parametrize("number", process.ENDING)
def test_a_signal_ends_the_block_with_the_status_of_a_shell(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    ended = []
    with pytest.raises(SystemExit) as raised, process.ended_like_by_interrupt():
        try:
            os.kill(os.getpid(), number)
        finally:
            ended.append(number)
    assert raised.value.code == 128 + number
    assert ended == [number]
    assert signal.getsignal(number) is before


def test_what_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with process.ended_like_by_interrupt():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, *process.ENDING])
def test_a_signal_is_put_off_to_the_end_of_the_block(number: signal.Signals) -> None:
    done = []
    with pytest.raises((KeyboardInterrupt, SystemExit)), process.ended_like_by_interrupt():
        before = signal.getsignal(number)
        try:
            with process.put_off():
                os.kill(os.getpid(), number)
                done.append(number)
        finally:
            assert signal.getsignal(number) is before
    assert done == [number]


def test_a_supervised_program() -> None:
    code = "import sys; print('told', file=sys.stderr); print(sys.stdin.readline()[::-1])"
    lines: list[str] = []
    words = [PYTHON, "-c", code]
    assert run_supervised(words, "abc", lines.append, lambda: True) == "\ncba\n"
    assert lines == ["told"]
    with pytest.raises(CommandError) as caught:
        run_supervised(
            [PYTHON, "-c", "raise SystemExit('because')"], "x", lines.append, lambda: True
        )
    assert caught.value.what.endswith("because") and caught.value.found == "exit status 1"
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        run_supervised(["no-such-program"], "", lines.append, lambda: True)


def test_a_cancelled_program_ends_with_its_children() -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen(['cat'], stdin=subprocess.PIPE);"
        "print(child.pid, file=sys.stderr, flush=True); sys.stdin.read()"
    )
    lines: list[str] = []
    assert run_supervised([PYTHON, "-c", code], "", lines.append, lambda: not lines) is None
    # Who inherits it may not have buried it yet.
    with suppress(psutil.NoSuchProcess):
        assert psutil.Process(int(lines[0])).status() == psutil.STATUS_ZOMBIE
