"""Progress of long work: a bar on a terminal; in a log a line for each part, and every 15 s."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from stacks.core.console import beating


class Progress:
    """Shows on standard error the current turn, how many are done, and the estimated time left.

    A log, which is no terminal, gets a line at the first turn of each part, and one every 15 s. It
    is shown within a `with` block.
    """

    def __init__(self, total: int, *, parts: bool = True, file: TextIO | None = None) -> None:
        """Prepare to show `total` turns.

        parts: announce each part in a log. file: standard error by default.
        """
        self._total, self._parts, self._file = total, parts, file or sys.stderr
        self._turn, self._done, self._seconds, self._is_whole = "", 0, 0.0, True
        self._updated = time.monotonic()
        console = Console(file=self._file, highlight=False, soft_wrap=True)
        columns = (
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}"),
        )
        # Each refresh takes processor time from what is timed.
        self._bar = Bar(
            *columns,
            console=console,
            transient=True,
            disable=not console.is_terminal,
            refresh_per_second=1,
        )
        self._task = self._bar.add_task("", total=total, left="")
        self._shown = ExitStack()

    def __enter__(self) -> Progress:
        """Begin to show it."""
        self._shown.enter_context(self._bar)
        self._shown.enter_context(beating(lambda: self._line(self._turn), self._file))
        return self

    def __exit__(self, *_: object) -> None:
        """End it: nothing more is printed."""
        self._shown.close()

    def update(self, turn: str, done: int, seconds: float = 0.0, *, is_whole: bool = True) -> None:
        """Show the turn that begins.

        turn: for people; up to a colon it names the part. done: turns that have ended. seconds:
        left, 0 if unknown. is_whole: whether they are of all turns.
        """
        before, part = (name.partition(":")[0] for name in (self._turn, turn))
        self._turn, self._done, self._seconds, self._is_whole = turn, done, seconds, is_whole
        self._updated = time.monotonic()
        self._bar.update(self._task, completed=done, description=turn, left=self._left())
        if self._bar.disable and self._parts and part != before:
            self.print(f"{self._line(part)} ...")

    def print(self, line: str) -> None:
        """Print a line that stays."""
        if self._bar.disable:
            print(line, file=self._file, flush=True)
        else:
            self._bar.console.print(line, markup=False)

    def _line(self, what: str) -> str:
        words = [what, f"{self._done} of {self._total} turns done", self._left()]
        return ", ".join(filter(None, words))

    def _left(self) -> str:
        """Return the estimate in words, less the time since it was made; empty without one."""
        seconds = self._seconds - (time.monotonic() - self._updated)
        if not self._seconds or seconds < 1:
            return ""
        return f"{'about' if self._is_whole else 'at least'} {duration(seconds)} left"


def duration(seconds: float) -> str:
    """Return a duration in seconds, or in minutes from 90 s on."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
