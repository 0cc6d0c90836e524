from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core import signals
from stacks.core.disk import REPOSITORY


@pytest.mark.parametrize("number", signals.ENDING)
def test_a_signal_ends_the_block_with_the_status_of_a_shell(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    ended = []
    with pytest.raises(SystemExit) as raised, signals.ended_like_by_interrupt():
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
        with signals.ended_like_by_interrupt():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, *signals.ENDING])
def test_a_signal_is_put_off_to_the_end_of_the_block(number: signal.Signals) -> None:
    done = []
    with pytest.raises((KeyboardInterrupt, SystemExit)), signals.ended_like_by_interrupt():
        before = signal.getsignal(number)
        try:
            with signals.put_off():
                os.kill(os.getpid(), number)
                done.append(number)
        finally:
            assert signal.getsignal(number) is before
    assert done == [number]


# A task that removes its temporary folder, slowly, while the user presses ctrl-C again.
TASK = """\
import sys
from pathlib import Path
from stacks.core.disk import replace_atomically
from stacks.core.signals import interrupted_once

with interrupted_once(), replace_atomically(Path(sys.argv[1], "made")) as new:
    new.mkdir()
    try:
        print("working", flush=True)
        sys.stdin.read()
    finally:
        print("tidying", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("presses", [1, 2, 3])
def test_a_second_interrupt_waits_until_temporary_folders_are_removed(
    presses: int, tmp_path: Path
) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", TASK, tmp_path], cwd=REPOSITORY, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        assert process.stdout.readline() == b"working\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"tidying\n"
        if presses > 1:
            process.send_signal(signal.SIGINT)
            assert process.stderr.readline() + process.stderr.readline() == signals.TIDYING
        if presses > 2:
            process.send_signal(signal.SIGINT)
        else:
            process.stdin.close()
        assert process.wait() == -signal.SIGINT
        assert b"KeyboardInterrupt" in process.stderr.read()
    assert list(tmp_path.iterdir()) == []
