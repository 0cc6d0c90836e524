"""Timing a person's own program in several environments, in turn.

Each run is a whole process: wall and processor time, peak memory, the time in the compilation of
functions, and, where the program prints the line THEANO_STACKS_STEP after each step, the time of a
step. Another variant is the first in each round, as in the bench of workloads.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from stacks.bench.candidates import Candidate
from stacks.bench.command import choose_candidates
from stacks.bench.intervals import Ratio, speedup, summary
from stacks.core import jsonfile
from stacks.core.console import print_table
from stacks.core.disk import scratch, write_atomically
from stacks.core.errors import UsageError
from stacks.core.process import start_in_session
from stacks.core.signals import ended_like_by_interrupt
from stacks.core.workspace import Workspace
from stacks.environments import run as runs
from stacks.profiles.program import HOOK, failure

ROUNDS = 7
# Seconds: of marks that are averaged before the median is taken, and between two looks at the
# processor time, which the kernel counts in hundredths.
SPAN, LOOK = 0.01, 0.1
STEP = b"THEANO_STACKS_STEP"
FOLDER_VARIABLE = "THEANO_STACKS_TIMES"
SCHEMA = 1


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


def bench_named(
    workspace: Workspace,
    names: Sequence[str],
    framework: str,
    command: Sequence[str],
    *,
    rounds: int = 0,
    json_file: Path | None = None,
) -> None:
    """Do as `bench` with variants by name, or with all that are built and verified.

    rounds: 0 for the default. Raises UsageError if a variant cannot be timed.
    """
    candidates = choose_candidates(workspace, names, framework)
    bench(candidates, command, rounds=rounds or ROUNDS, json_file=json_file)


def bench(
    candidates: Sequence[Candidate],
    command: Sequence[str],
    *,
    rounds: int = ROUNDS,
    json_file: Path | None = None,
) -> str | None:
    """Time a program on variants in rounds, after a first run of each; print a table.

    The first run compiles what the environment has not compiled before. json_file: also write every
    run there. Returns the fastest variant if the rounds show one. Raises ProgramError with the
    program's status if it fails, CommandError if it cannot be started; then no figure is kept.
    """
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}", expected="at least 1")
    first: dict[str, ProgramRun] = {}
    timed: dict[str, list[ProgramRun]] = {c.variant.id: [] for c in candidates}
    for number, candidate in turns(candidates, rounds):
        name = candidate.variant.id
        result = run_once(candidate, command)
        if number:
            timed[name].append(result)
        else:
            first[name] = result
        of = f"round {number} of {rounds}" if number else "first run"
        print(f"  {of}: {name}: {result.wall:.2f} s", file=sys.stderr, flush=True)
    best = show(first, timed)
    if json_file:
        content = {
            "schema": SCHEMA,
            "command": list(command),
            "first": {name: asdict(run) for name, run in first.items()},
            "rounds": {name: [asdict(run) for run in found] for name, found in timed.items()},
        }
        write_atomically(json_file, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return best


def turns(candidates: Sequence[Candidate], rounds: int) -> Iterator[tuple[int, Candidate]]:
    """Yield round and variant: A B C in round 0, then A B C, B C A, C A B."""
    for number in range(rounds + 1):
        start = max(number - 1, 0) % len(candidates)
        for candidate in (*candidates[start:], *candidates[:start]):
            yield number, candidate


def run_once(candidate: Candidate, command: Sequence[str]) -> ProgramRun:
    """Run the program to its end; on a failure print its output and raise ProgramError."""
    with scratch() as folder:
        env = {
            **runs.variables(candidate.place),
            # The marks are to come when they are printed.
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": os.pathsep.join(
                [str(HOOK), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
            FOLDER_VARIABLE: str(folder),
        }
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as output, ended_like_by_interrupt():
            start = time.perf_counter()
            with os.fdopen(writing, "wb") as end:
                process = start_in_session(command, end, env)
            try:
                marks = Marks(process.pid)
                lines = _read(output, marks)
                _, code, usage = os.wait4(process.pid, 0)
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        wall = time.perf_counter() - start
        process.returncode = status = os.waitstatus_to_exitcode(code)
        if status:
            sys.stderr.buffer.write(lines)
            sys.stderr.flush()
            raise failure(candidate.variant, command, status)
        reports = [jsonfile.read(path) for path in folder.glob("*.json")]
    return ProgramRun(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        compile=sum(report["compile"] for report in reports),
        # The kernel's figure is at least that of this process. It serves where nothing is compiled.
        memory=max((r["peak"] for r in reports), default=usage.ru_maxrss * 1024) / 1e6,
        first_step=marks.times[0] - start if marks.times else None,
        steps=tuple(after - before for before, after in itertools.pairwise(marks.times)),
        first_step_cpu=marks.cpu[0][1] if marks.cpu else None,
        step_cpu=marks.step_cpu,
    )


def _read(output: Iterator[bytes], marks: Marks) -> bytes:
    """Add the marks in a program's output, and return all other lines."""
    lines = []
    for line in output:
        if line.strip() == STEP:
            marks.add()
        else:
            lines.append(line)
    return b"".join(lines)


def show(first: dict[str, ProgramRun], timed: dict[str, list[ProgramRun]]) -> str | None:
    """Print a line for each variant, then the fastest if the rounds show one; return that."""
    reference = next(iter(timed))
    has_steps = all(run.step for found in timed.values() for run in found)
    rows = []
    for name, found in timed.items():
        walls = summary([run.wall for run in found])
        ratio = _ratio(found, timed[reference], has_steps)
        steps = [run.step for run in found if run.step]
        rows.append(
            (
                name,
                f"{first[name].wall:.2f} s",
                f"{walls.median:.2f} s ({walls.low:.2f} to {walls.high:.2f})",
                f"{statistics.median(run.cpu for run in found):.2f} s",
                f"{statistics.median(run.compile for run in found):.2f} s",
                f"{1e3 * statistics.median(steps):.3f} ms" if has_steps else "-",
                f"{max(run.memory for run in found):.0f} MB",
                "1" if name == reference else _ratio_text(ratio),
            )
        )
    names = ("first run", "wall (quartiles)", "CPU", "compile", "step", "peak", "times as fast")
    print_table(("variant",), names, rows)
    print(f"\n{verdict(timed, has_steps)}")
    return fastest(timed, has_steps)


def fastest(timed: dict[str, list[ProgramRun]], has_steps: bool) -> str | None:
    """Return the fastest of several variants, None if the rounds show none."""
    best = _lowest(timed, has_steps)
    ratios = [_ratio(timed[best], timed[name], has_steps) for name in timed if name != best]
    return best if ratios and all(ratio.significant for ratio in ratios) else None


def verdict(timed: dict[str, list[ProgramRun]], has_steps: bool) -> str:
    """Return a sentence with the fastest variant, if the rounds show one."""
    measure = "step" if has_steps else "whole program"
    if len(timed) < 2:
        return "one variant: nothing to compare it with"
    if best := fastest(timed, has_steps):
        return f"{measure}: {best} is the fastest"
    best = _lowest(timed, has_steps)
    return f"{measure}: the rounds show no fastest variant; {best} has the lowest median"


def _lowest(timed: dict[str, list[ProgramRun]], has_steps: bool) -> str:
    return min(timed, key=lambda name: statistics.median(_values(timed[name], has_steps)))


def _values(found: Sequence[ProgramRun], has_steps: bool) -> list[float]:
    return [(run.step or 0.0) if has_steps else run.wall for run in found]


def _ratio(ours: Sequence[ProgramRun], theirs: Sequence[ProgramRun], has_steps: bool) -> Ratio:
    return speedup(_values(ours, has_steps), _values(theirs, has_steps), "s")


def _ratio_text(ratio: Ratio) -> str:
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
