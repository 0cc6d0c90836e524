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
