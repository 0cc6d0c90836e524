from __future__ import annotations

import os
import signal

import pytest

from stacks.core import signals


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
