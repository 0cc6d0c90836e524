"""Ending tidily when another program asks for it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# What ends a process that has no handler: of `kill` and batch systems, and of a closed terminal.
ENDING = (signal.SIGTERM, signal.SIGHUP)
TIDYING = b"\ntemporary files are being removed; ctrl-C once more leaves them\n"


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


@contextmanager
def interrupted_once() -> Iterator[None]:
    """In the block, let the first ctrl-C interrupt, and the next one wait for the tidying.

    People press it twice; the second would interrupt what removes the temporary folders. The third
    interrupts that, too. An interrupt that is ignored, as under nohup, stays so. To be entered in
    the main thread.
    """
    count, owner = 0, os.getpid()

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count != 2:
            raise KeyboardInterrupt
        if os.getpid() == owner:
            # Not print(): the signal may have interrupted another one.
            os.write(sys.stderr.fileno(), TIDYING)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
