"""Progress of rounds: a bar on a terminal, a line for each round elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn


class RoundDisplay:
    """Shows the current turn, how many are done, and the estimated time left."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self._task = progress.add_task("", total=total, left="")
        self._last = ""

    def update(self, turn: str, done: int, seconds: float, *, is_whole: bool = True) -> None:
        """Show the turn that starts, in a log only the first of a round.

        turn: for people; up to a colon it names the round. done: turns that have ended. seconds:
        left, 0 if unknown. is_whole: whether they are of all turns.
        """
        left = f"{'about' if is_whole else 'at least'} {duration(seconds)} left" if seconds else ""
        self._progress.update(self._task, completed=done, description=turn, left=left)
        head = turn.partition(":")[0]
        if self._progress.disable and head != self._last:
            self._last = head
            words = ", ".join(filter(None, [head, f"{done} of {self._total} turns done", left]))
            self._progress.console.print(f"{words} ...")


def duration(seconds: float) -> str:
    """Return a duration in seconds, or in minutes from 90 s on."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@contextmanager
def round_display(total: int) -> Iterator[RoundDisplay]:
    """Show the progress of `total` turns on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    disable = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=disable) as progress:
        yield RoundDisplay(progress, total)
