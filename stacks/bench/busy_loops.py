"""Busy loops: processes that each keep a processor busy while others are timed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from stacks.bench import noise
from stacks.core.process import CommandError, quoted, start

# Prints a line when it begins. It ends at the end of its standard input, which the system closes
# when the process that started it ends, by whatever signal.
LOOP = """
import select
print(flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(100000):
        pass
"""


@dataclass(frozen=True)
class BusyLoops:
    """The processes of some loops."""

    processes: Sequence[subprocess.Popen[Any]] = ()

    def processor_seconds(self) -> float:
        """Return the processor time that they have taken."""
        return sum(noise.processor_seconds(process.pid) for process in self.processes)


@contextmanager
def busy_loops(count: int, code: str = LOOP) -> Iterator[BusyLoops]:
    """Run so many loops during the block; all are busy when it begins, and gone when it has ended.

    They may use the processors of this process. code: of a loop. Raises CommandError if one cannot
    be started.
    """
    words = [sys.executable, "-I", "-S", "-c", code]
    with ExitStack() as stack:
        processes = []
        for _ in range(count):
            process = start(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            assert process.stdout
            if not os.read(process.stdout.fileno(), 1):
                raise CommandError(quoted(words[:-1]), expected="a busy loop", found="it ended")
        yield BusyLoops(processes)
