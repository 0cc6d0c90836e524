"""The log of a run: on standard error under -v, in build/logs/ after a failure."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stacks.core.console import as_typed

LOGGER = logging.getLogger("stacks")
# How many log files stay in build/logs/.
KEPT = 10
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


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


def start(*, verbose: bool) -> None:
    """Keep the log of this process from now on; if verbose, print it too."""
    LOGGER.setLevel(logging.INFO)
    LOGGER.handlers = [_Memory(verbose=verbose)]


@contextmanager
def collected() -> Iterator[list[logging.LogRecord]]:
    """Give the list that gets the records of the block: a worker process sends it to its parent."""
    memory = _Memory()
    LOGGER.setLevel(logging.INFO)
    LOGGER.addHandler(memory)
    try:
        yield memory.records
    finally:
        LOGGER.removeHandler(memory)


def write(folder: Path, task: str, error: BaseException) -> Path | None:
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
