"""What a person sees while the rounds go on: a bar on a terminal, a line a round elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn


class RoundDisplay:
    """Shows how far the rounds are and how long the rest will take."""

    def __init__(self, console: Console, progress: Progress | None, task: TaskID | None) -> None:
        self._console, self._progress, self._task = console, progress, task
        self._said = ""

    def tell(self, what: str, done: int, seconds: float | None) -> None:
        """Show what runs now; `seconds` are left, as far as is known."""
        left = "" if seconds is None else f"about {duration(seconds)} left"
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, description=what, left=left)
            return
        head = what.partition(":")[0]
        if head != self._said:
            self._said = head
            self._console.print(f"{head} ... {left}".rstrip(), highlight=False)


def duration(seconds: float) -> str:
    """Return seconds as a person says them."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@contextmanager
def round_display(total: int) -> Iterator[RoundDisplay]:
    """Show progress on standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield RoundDisplay(console, None, None)
        return
    columns = (
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield RoundDisplay(console, progress, progress.add_task("", total=total, left=""))
