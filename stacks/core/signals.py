"""Ending tidily when another program asks for it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# What ends a process that has no handler: of `kill` and batch systems, and of a closed terminal.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ended_like_by_interrupt() -> Iterator[None]:
    """In the block, let a signal of ENDING raise SystemExit(128 + its number), as a shell has it.

    So `finally` ends what the block has started. A signal that is ignored, as under nohup, stays
    so. To be entered in the main thread.
    """
    before = {number: signal.getsignal(number) for number in ENDING}
    handled = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])


@contextmanager
def put_off() -> Iterator[None]:
    """In the block, put off what interrupts or ends this process to the end of the block.

    For a block that starts a program in a session of its own and keeps its process: if a signal
    comes between the two, nobody can end the program. To be entered in the main thread.
    """
    came: list[int] = []
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, *ENDING)}
    handled = [each for each, handler in before.items() if callable(handler)]
    for each in handled:
        signal.signal(each, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for each in handled:
            signal.signal(each, before[each])
        for number in came:
            signal.raise_signal(number)


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
