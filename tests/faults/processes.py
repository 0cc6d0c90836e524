"""The processes that a trial has started."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path


def processes_of(root: Path) -> Iterator[tuple[int, str]]:
    """Yield number and command of each process that works for the room in a folder."""
    needle = f"FAULT_ROOT={root}".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            found = needle in (folder / "environ").read_bytes().split(b"\0")
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
            is_zombie = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if found and not is_zombie:
            yield int(folder.name), command


def ended_within(
    seconds: float, left: Callable[[], Sequence[tuple[int, str]]]
) -> Sequence[tuple[int, str]]:
    """Return the processes that are left after so many seconds, sooner if there are none."""
    end = time.monotonic() + seconds
    while (processes := left()) and time.monotonic() < end:
        time.sleep(0.02)
    return processes
