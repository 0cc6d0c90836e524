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


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
