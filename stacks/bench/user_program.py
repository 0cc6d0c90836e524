"""One run of a user's program in an environment: its times, its memory, and the marks it prints.

A run is a whole process: wall and processor time, peak memory, the time in the compilation of
functions, and, where the program prints the line THEANO_STACKS_STEP after each step, the time of a
step. The program is not edited: the suite's hook counts compilation and memory.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from stacks.bench.candidates import Candidate
from stacks.core.disk import scratch
from stacks.core.process import ended_like_by_interrupt, put_off, start_in_session
from stacks.environments.use import run as runs
from stacks.profiles.program import failure, hook_variables, read_processes

STEP = b"THEANO_STACKS_STEP"
FOLDER_VARIABLE = "THEANO_STACKS_TIMES"
# Seconds of marks that are averaged before the median is taken.
SPAN = 0.01
# More than a pipe holds, so that one read empties it.
PIECE = 1 << 20


@dataclass(frozen=True)
class ProgramRun:
    """One run of the program.

    wall, cpu, compile: seconds; cpu with its children's, compile of all its processes. memory: the
    peak of its largest process, in MB, of those that compile functions and what they start. steps:
    seconds from each mark to the next. first_step: seconds to the first mark, None without any.
    """

    wall: float
    cpu: float
    compile: float
    memory: float
    first_step: float | None
    steps: tuple[float, ...]

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
class _Output:
    """What a program has printed, without its marks; when they came.

    ended: a pipe whose other end is closed when the program has ended.
    """

    pipe: int
    ended: int
    text: list[bytes] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def read(self) -> None:
        """Read to the end of the output, or of the program: a child of it may hold the pipe."""
        line, has_ended = b"", False
        while not has_ended:
            ready = select.select([self.pipe, self.ended], [], [])[0]
            has_ended = self.ended in ready
            piece = os.read(self.pipe, PIECE) if self.pipe in ready else b""
            has_ended = has_ended or not piece
            *lines, line = (line + piece).split(b"\n")
            for each in lines:
                # A progress bar on standard error leaves its line open before the mark.
                if each.rstrip().endswith(STEP):
                    self.times.append(time.perf_counter())
                    self.text.append(each.rstrip().removesuffix(STEP))
                else:
                    self.text.append(each + b"\n")
        self.text.append(line)


def run_once(candidate: Candidate, command: Sequence[str]) -> ProgramRun:
    """Run the program to its end; on a failure print its output and raise ProgramError.

    What it has started and left behind in its session is killed.
    """
    with scratch() as folder:
        env = hook_variables(runs.variables(candidate.place), FOLDER_VARIABLE, folder)
        # The marks are to come when they are printed.
        env["PYTHONUNBUFFERED"] = "1"
        (reading, writing), (ended, running) = os.pipe(), os.pipe()
        with os.fdopen(reading, "rb"), os.fdopen(ended, "rb"), ended_like_by_interrupt():
            output = _Output(reading, ended)
            reader = threading.Thread(target=output.read)
            start, process = time.perf_counter(), None
            end = start
            try:
                with os.fdopen(running, "wb"):
                    with os.fdopen(writing, "wb") as file, put_off():
                        process = start_in_session(command, file, env)
                    reader.start()
                    # What is left of its session is killed before its number may be another's.
                    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
                    end = time.perf_counter()
            finally:
                usage = _end(process, reader) if process else None
        assert process and usage
        if process.returncode:
            sys.stderr.buffer.writelines(output.text)
            sys.stderr.flush()
            raise failure(candidate.variant, command, process.returncode)
        reports = read_processes(folder)
    return ProgramRun(
        # The last mark may be read a moment after the end.
        wall=max([end, *output.times[-1:]]) - start,
        cpu=usage.ru_utime + usage.ru_stime,
        compile=sum(report["compile"] for report in reports),
        # The kernel's figure is at least that of this process. It serves where nothing is compiled.
        memory=max((r["peak"] for r in reports), default=usage.ru_maxrss * 1024) / 1e6,
        first_step=output.times[0] - start if output.times else None,
        steps=tuple(b - a for a, b in zip(output.times, output.times[1:], strict=False)),
    )


def _end(process: subprocess.Popen[bytes], reader: threading.Thread) -> resource.struct_rusage:
    """Kill what is left of a program's session, wait for the program; return what it has used."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if reader.ident:
        reader.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage
