"""What people read: errors, steps, tables, the progress of long work; the log of a run.

The log goes to standard error under -v, and to build/logs/ after a failure.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from stacks.core.disk import INSTALLED
from stacks.core.errors import StacksError

# What a person types for this program, and how messages and help name it.
PROGRAM = "./invoke"
INSTALLED_PROGRAM = "theano-stacks"
# Seconds between two lines of a step that is still running.
BEAT = 15.0
# The blocks of `beating` that run, the innermost last.
_BEATING: list[threading.Event] = []
LOGGER = logging.getLogger("stacks")
# How many log files stay in build/logs/.
KEPT = 10
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def as_typed(text: str) -> str:
    """Return a text with the name of the program as a person types it here."""
    return text.replace(PROGRAM, INSTALLED_PROGRAM) if INSTALLED else text


def show_error(error: StacksError) -> None:
    """Print an error on standard error, its first word red on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text.assemble(("error: ", "bold red"), as_typed(str(error))))


def next_step(command: str, *, file: TextIO | None = None) -> None:
    """Print the command that a person may want next; only tasks know that they are not a part.

    file: sys.stdout by default.
    """
    print(as_typed(f"next: {command}"), file=file)


@contextmanager
def step(name: str, summary: str) -> Iterator[list[str]]:
    """Print one line after the block: the step's name, its summary, its seconds.

    Gives the list of summaries; the last one is printed. On a terminal the name is shown at once.
    A line says every BEAT seconds that the step is still running.
    """
    start, stream = time.monotonic(), sys.stderr
    summaries = [summary]
    if stream.isatty():
        # Without an end of line: what is printed next takes its place.
        print(f"  {name} ...", end="\r", file=stream, flush=True)
    with beating(lambda: f"{name} ({summaries[-1]})" if summaries[-1] else name, stream):
        yield summaries
    seconds = time.monotonic() - start
    print(f"  {name:<9}{summaries[-1]:<58}{seconds:7.1f} s", file=stream, flush=True)


@contextmanager
def beating(describe: Callable[[], str], stream: TextIO, *, shown: bool = False) -> Iterator[None]:
    """While the block runs, say every BEAT seconds what it does.

    Of blocks within others the innermost speaks. shown: whether a bar on the terminal says it.
    """
    ended = threading.Event()

    def beat() -> None:
        start = time.monotonic()
        while not ended.wait(BEAT):
            if _BEATING[-1:] == [ended]:
                seconds = time.monotonic() - start
                print(f"  {describe()} ... {seconds:.0f} s", file=stream, flush=True)

    thread = threading.Thread(target=beat, daemon=True)
    _BEATING.append(ended)
    if not shown:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        _BEATING.remove(ended)
        if thread.ident:
            thread.join()


def display_path(path: Path) -> str:
    """Return a path as people read it: relative to the working folder if it is inside."""
    try:
        working = Path.cwd()
    except FileNotFoundError:  # It was removed.
        return str(path)
    return str(path.relative_to(working)) if path.is_relative_to(working) else str(path)


def print_line(worker: str, line: str) -> None:
    """Print a line of a cluster's worker, after its name."""
    print(f"{worker}: {line}", file=sys.stderr, flush=True)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def print_table(
    names: Iterable[str], numbers: Iterable[str], rows: Iterable[Iterable[str]]
) -> None:
    """Print rows under the columns `names`, then the columns `numbers`, aligned to the right."""
    left, right = tuple(names), tuple(numbers)
    lines = [(*left, *right), *(tuple(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, widths, strict=True)
        aligned = [
            cell.ljust(width) if number < len(left) else cell.rjust(width)
            for number, (cell, width) in enumerate(cells)
        ]
        print("  ".join(aligned).rstrip())


class Progress:
    """Shows on standard error the current turn, how many are done, and the estimated time left.

    A terminal has one line of it. A log, which is no terminal, gets a line at the first turn of
    each part, and one every BEAT seconds. It is shown within a `with` block.
    """

    def __init__(self, total: int, *, parts: bool = True, file: TextIO | None = None) -> None:
        """Prepare to show `total` turns.

        parts: announce each part in a log. file: standard error by default.
        """
        # Loaded here: most commands show no progress.
        from rich.console import Console

        self._total, self._parts, self._file = total, parts, file or sys.stderr
        self._turn, self._done, self._left = "", 0, ""
        self._console = Console(file=self._file, highlight=False, soft_wrap=True)
        # Each refresh takes processor time from what is timed.
        self._status = self._console.status("", refresh_per_second=1)
        self._shown = ExitStack()

    def __enter__(self) -> Progress:
        """Begin to show it."""
        if self._console.is_terminal:
            self._shown.enter_context(self._status)
        self._shown.enter_context(
            beating(lambda: self._line(self._turn), self._file, shown=self._console.is_terminal)
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End it: nothing more is printed."""
        self._shown.close()

    def update(self, turn: str, done: int, seconds: float = 0.0) -> None:
        """Show the turn that begins.

        turn: for people; up to a colon it names the part. done: turns that have ended. seconds:
        left, 0 if unknown.
        """
        from rich.text import Text

        before, part = (name.partition(":")[0] for name in (self._turn, turn))
        self._turn, self._done = turn, done
        self._left = f"about {duration(seconds)} left" if seconds >= 1 else ""
        self._status.update(Text(self._line(turn)))
        if self._parts and part != before and not self._console.is_terminal:
            self.print(f"{self._line(part)} ...")

    def print(self, line: str) -> None:
        """Print a line that stays."""
        self._console.print(line, markup=False)

    def _line(self, what: str) -> str:
        words = [what, f"{self._done} of {self._total} turns done", self._left]
        return ", ".join(filter(None, words))


def duration(seconds: float) -> str:
    """Return a duration in seconds, or in minutes from 90 s on."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class _Memory(logging.Handler):
    """Keeps the records, without the credentials that an address in them may have.

    If verbose, prints each one; a progress bar may have replaced sys.stderr.
    """

    def __init__(self, *, verbose: bool = False) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.verbose = verbose

    def emit(self, record: logging.LogRecord) -> None:
        record.msg, record.args = CREDENTIALS.sub("", record.getMessage()), None
        self.records.append(record)
        if self.verbose:
            print(record.msg, file=sys.stderr, flush=True)


def start_log(*, verbose: bool) -> None:
    """Keep the log of this process from now on; if verbose, print it too."""
    LOGGER.setLevel(logging.INFO)
    LOGGER.handlers = [_Memory(verbose=verbose)]


@contextmanager
def collected_log() -> Iterator[list[logging.LogRecord]]:
    """Give the list that gets the records of the block: a worker process sends it to its parent."""
    memory = _Memory()
    LOGGER.setLevel(logging.INFO)
    LOGGER.addHandler(memory)
    try:
        yield memory.records
    finally:
        LOGGER.removeHandler(memory)


def write_log(folder: Path, task: str, error: BaseException) -> Path | None:
    """Write the log of a failed task, and the error, to `folder`/TASK-N.log; return its path.

    Only the last files stay. Nothing is written where nothing was logged or the disk refuses.
    """
    memory = next((h for h in LOGGER.handlers if isinstance(h, _Memory)), None)
    if memory is None or not memory.records:
        return None
    form = logging.Formatter("%(asctime)s %(message)s")
    lines = [*map(form.format, memory.records), CREDENTIALS.sub("", as_typed(f"error: {error}"))]
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        older = sorted(folder.glob("*-*.log"), key=_number)
        path = folder / f"{task}-{_number(older[-1]) + 1 if older else 1}.log"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")
        for old in older[: 1 - KEPT]:
            old.unlink(missing_ok=True)
        return path
    return None


def _number(path: Path) -> int:
    number = path.stem.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0
