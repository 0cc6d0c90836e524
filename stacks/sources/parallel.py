"""A map over items with threads, which can be stopped."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def parallel_map(
    work: Callable[[T], R], items: Sequence[T], stop: threading.Event, *, threads: int = 8
) -> list[R]:
    """Return work(item) for every item, in order.

    The first failure, or ctrl-C, sets `stop`, ends the work and is raised here.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, R | None, BaseException | None]] = queue.SimpleQueue()
    for number in range(len(items)):
        waiting.put(number)

    def serve() -> None:
        while not stop.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((number, work(items[number]), None))
            except BaseException as error:  # raised in the caller's thread
                done.put((number, None, error))
                return

    # Daemons: a thread that waits for a server must not keep a stopped program alive.
    for _ in range(min(threads, len(items))):
        threading.Thread(target=serve, daemon=True).start()
    results: dict[int, R] = {}
    try:
        while len(results) < len(items):
            number, result, error = done.get()
            if error is not None:
                raise error
            results[number] = result  # type: ignore[assignment]  # without an error it is an R
    except BaseException:
        stop.set()
        raise
    return [results[number] for number in range(len(items))]
