"""Progress of downloads: bars on a terminal, two lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
