"""What the user sees while files come: bars on a terminal, two quiet lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Column


class DownloadProgress:
    """One bar for all bytes and one for each file under way; safe to call from any thread."""

    def __init__(self, progress: Progress | None, total: int | None) -> None:
        self._progress = progress
        self._all = progress.add_task("all", total=total) if progress else None

    @contextmanager
    def file(self, name: str, size: int | None, already: int) -> Iterator[Callable[[int], None]]:
        """Show a file while it comes; gives the function that is told each gain in bytes."""
        if self._progress is None or self._all is None:
            yield lambda gained: None
            return
        progress, everything = self._progress, self._all
        task: TaskID = progress.add_task(name, total=size, completed=already)
        progress.advance(everything, already)

        def advance(gained: int) -> None:
            progress.advance(task, gained)
            progress.advance(everything, gained)

        try:
            yield advance
        finally:
            progress.remove_task(task)


@contextmanager
def download_progress(count: int, total: int | None) -> Iterator[DownloadProgress]:
    """Show the fetching of `count` files of `total` bytes, where known, on standard error."""
    console = Console(stderr=True)
    told = f"{count} file{'s' if count != 1 else ''}"
    if total is not None:
        told += f", {total / 1e6:.1f} MB"
    if console.is_terminal:
        columns = (
            TextColumn(
                "{task.description}",
                table_column=Column(max_width=28, no_wrap=True, overflow="ellipsis"),
            ),
            BarColumn(bar_width=10),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            yield DownloadProgress(progress, total)
    else:
        begun = time.monotonic()
        console.print(f"fetching {told}", highlight=False)
        yield DownloadProgress(None, total)
        console.print(f"fetched {told} in {time.monotonic() - begun:.1f} s", highlight=False)
