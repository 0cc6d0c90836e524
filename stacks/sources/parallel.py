"""A map over items with threads, which can be stopped, and the progress of downloads.

On a terminal that is bars, elsewhere two lines.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Column

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
    """A bar for all bytes and one for each file in progress; thread-safe."""

    def __init__(self, progress: Progress, total: int | None) -> None:
        self.finished = 0
        self._progress = progress
        self._all = progress.add_task("all", total=total)

    @contextmanager
    def file(self, name: str, size: int | None, already: int) -> Iterator[Callable[[int], None]]:
        """Show a file during the block; gives the function to call with each gain in bytes."""
        task = self._progress.add_task(name, total=size, completed=already)

        def advance(gained: int) -> None:
            self._progress.advance(task, gained)
            self._progress.advance(self._all, gained)

        self._progress.advance(self._all, already)
        try:
            yield advance
            self.finished += 1
        finally:
            self._progress.remove_task(task)


@contextmanager
def download_progress(count: int, total: int | None) -> Iterator[DownloadProgress]:
    """Show the download of `count` files of `total` bytes, if known, on standard error.

    The last line says how many came: a place may lack some.
    """
    console = Console(stderr=True, highlight=False)
    quiet = not console.is_terminal
    files = f"{count} file{'s' if count != 1 else ''}"
    if total is not None:
        files += f", {total / 1e6:.1f} MB"
    name = Column(max_width=28, no_wrap=True, overflow="ellipsis")
    columns = (
        TextColumn("{task.description}", table_column=name),
        BarColumn(bar_width=10),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    start = time.monotonic()
    if quiet:
        console.print(f"fetching {files}")
    with Progress(*columns, console=console, transient=True, disable=quiet) as progress:
        shown = DownloadProgress(progress, total)
        yield shown
    if quiet:
        part = "" if shown.finished == count else f"{shown.finished} of "
        console.print(f"fetched {part}{files} in {time.monotonic() - start:.1f} s")
