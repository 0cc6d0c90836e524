from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core import process
from stacks.core.process import CommandError, call, run_attached

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
    with pytest.raises(SystemExit) as raised, process.ended_once():
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
        with process.ended_once():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, *process.ENDING])
def test_a_signal_is_put_off_to_the_end_of_the_block(number: signal.Signals) -> None:
    done = []
    with pytest.raises((KeyboardInterrupt, SystemExit)), process.ended_once():
        before = signal.getsignal(number)
        try:
            with process.put_off():
                os.kill(os.getpid(), number)
                done.append(number)
        finally:
            assert signal.getsignal(number) is before
    assert done == [number]


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
