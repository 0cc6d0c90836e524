"""One run of a person's own program: its times and memory, and the marks that it prints."""

from __future__ import annotations

import math
import os
import statistics
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

# Seconds: of marks that are averaged before the median is taken, and between two looks at the
# processor time, which the kernel counts in hundredths.
SPAN, LOOK = 0.01, 0.1


@dataclass(frozen=True)
class ProgramRun:
    """One run of the program.

    wall, cpu, compile: seconds; cpu with its children's, compile of all its processes. memory: the
    peak of its largest process, in MB, of those that compile functions and what they start. steps:
    seconds from each mark to the next. first_step: seconds to the first mark, None without any.
    first_step_cpu, step_cpu: the processor time to the first mark, and of a step; they hold on a
    busy machine, too.
    """

    wall: float
    cpu: float
    compile: float
    memory: float
    first_step: float | None
    steps: tuple[float, ...]
    first_step_cpu: float | None = None
    step_cpu: float | None = None

    @property
    def step(self) -> float | None:
        """The median of its steps in seconds, None with fewer than two marks.

        Of short steps the median is that of spans: several marks may come at once.
        """
        spans, total, count = [], 0.0, 0
        for seconds in self.steps:
            total, count = total + seconds, count + 1
            if total >= SPAN:
                spans.append(total / count)
                total, count = 0.0, 0
        if not spans and count:
            spans.append(total / count)
        return statistics.median(spans) if spans else None


@dataclass
class Marks:
    """When the marks of a process came, and its processor time then, looked at now and then."""

    process: int
    times: list[float] = field(default_factory=list)
    cpu: list[tuple[int, float]] = field(default_factory=list)
    looked: float = -math.inf

    def add(self) -> None:
        """Note that a mark has come."""
        now = time.perf_counter()
        self.times.append(now)
        if now - self.looked >= LOOK:
            self.looked = now
            with suppress(OSError):
                self.cpu.append((len(self.times), cpu_of(self.process)))

    @property
    def step_cpu(self) -> float | None:
        """The processor time from one mark to the next, None with fewer than two looks."""
        if len(self.cpu) < 2:
            return None
        (first, before), (last, after) = self.cpu[0], self.cpu[-1]
        return (after - before) / (last - first)


def cpu_of(process: int) -> float:
    """Return the processor time of a process and of its children that have ended, in seconds.

    From /proc/PID/stat, proc(5): utime, stime, cutime, cstime. OSError if it is gone.
    """
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
