"""A map over items with threads, which can be stopped, and the progress of downloads.

On a terminal that is a bar, elsewhere a line at the start, at the end, and now and then.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from stacks.core.console import beating, duration, plural

if TYPE_CHECKING:
    from rich.progress import Progress

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


class DownloadProgress:
    """A bar for the bytes of all files; `finished` counts the files that came."""

    def __init__(self, progress: Progress, total: int | None) -> None:
        self.finished = 0
        self._progress, self._bar = progress, progress.add_task("", total=total)

    def advance(self, gained: int) -> None:
        """Count bytes, from any thread; a loss is negative."""
        self._progress.advance(self._bar, gained)

    def line(self) -> str:
        """Return the bytes that came, and the time left if it is known."""
        [task] = self._progress.tasks
        left = f", about {duration(task.time_remaining)} left" if task.time_remaining else ""
        return f"{task.completed / 1e6:.1f} MB fetched{left}"


@contextmanager
def download_progress(count: int, total: int | None) -> Iterator[DownloadProgress]:
    """Show the download of `count` files of `total` bytes, if known, on standard error.

    The last line says how many came: a place may lack some.
    """
    # Loaded here: most runs find all in the cache.
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    quiet = not console.is_terminal
    files = plural(count, "file")
    if total is not None:
        files += f", {total / 1e6:.1f} MB"
    columns = (bars.BarColumn(), bars.DownloadColumn(), bars.TransferSpeedColumn())
    start = time.monotonic()
    if quiet:
        console.print(f"fetching {files}")
    left = bars.TimeRemainingColumn()
    with bars.Progress(*columns, left, console=console, transient=True, disable=quiet) as progress:
        shown = DownloadProgress(progress, total)
        with beating(shown.line, sys.stderr, shown=not quiet):
            yield shown
    if quiet:
        part = "" if shown.finished == count else f"{shown.finished} of "
        console.print(f"fetched {part}{files} in {time.monotonic() - start:.1f} s")
