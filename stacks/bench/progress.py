"""Progress of the rounds: a bar on a terminal, a line for each round elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn


class RoundDisplay:
    """Shows the current turn and the estimated time left."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=total, left="")
        self._last = ""

    def update(self, turn: str, done: int, seconds: float | None) -> None:
        """Show the turn that starts; `done` turns have ended, `seconds` are left if known."""
        left = "" if seconds is None else f"about {duration(seconds)} left"
        self._progress.update(self._task, completed=done, description=turn, left=left)
        head = turn.partition(":")[0]
        if self._progress.disable and head != self._last:
            self._last = head
            self._progress.console.print(f"{head} ... {left}".rstrip())


def duration(seconds: float) -> str:
    """Return a duration in seconds, or in minutes from 90 s on."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@contextmanager
def round_display(total: int) -> Iterator[RoundDisplay]:
    """Show the progress of `total` turns on standard error."""
    console = Console(stderr=True, highlight=False)
    columns = (
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    disable = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=disable) as progress:
        yield RoundDisplay(progress, total)
