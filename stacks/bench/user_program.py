"""A user's program on several variants, in turn: its runs, their table, the fastest variant.

A run is a whole process: wall and processor time, peak memory, the time in the compilation of
functions, and, where the program prints the line THEANO_STACKS_STEP after each step, the time of a
step. The program is not edited: the suite's hook counts compilation and memory.
"""

import json
import os
import resource
import select
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from stacks.bench.candidates import Candidate
from stacks.bench.result import Noise, Run, Series, noise_remarks, watch_noise
from stacks.bench.rows import compared, display_names, lines, winners
from stacks.bench.schedule import QUICK_ROUNDS, rotated, seconds_left
from stacks.core.console import Progress, display_path
from stacks.core.disk import tmp_folder, write_atomically
from stacks.core.errors import UsageError
from stacks.core.process import put_off, start_in_session
from stacks.environments.use import run as runs
from stacks.environments.use.jobs import end_sessions
from stacks.profiles.run import failure, hook_variables, read_processes
from stacks.variants.variant import Variant

MARK = b"THEANO_STACKS_STEP"
FOLDER_VARIABLE = "THEANO_STACKS_TIMES"
# Seconds of marks that are averaged before the median is taken.
SPAN = 0.01
# More than a pipe holds, so that one read empties it.
PIECE = 1 << 20
SCHEMA = 1


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


def run_once(candidate: Candidate, command: Sequence[str]) -> ProgramRun:
    """Run the program to its end; on a failure print its output and raise ProgramError.

    What it has started and left behind in its session is killed.
    """
    text, marks = list[bytes](), list[float]()
    with tmp_folder() as folder:
        env = runs.variables(candidate.variant, candidate.place)
        env = hook_variables(env, FOLDER_VARIABLE, folder)
        # The marks are to come when they are printed.
        env["PYTHONUNBUFFERED"] = "1"
        (reading, writing), (ended, running) = os.pipe(), os.pipe()
        with os.fdopen(reading, "rb"), os.fdopen(ended, "rb"):
            reader = threading.Thread(target=_read, args=(reading, ended, text, marks))
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
            sys.stderr.buffer.writelines(text)
            sys.stderr.flush()
            raise failure(candidate.variant, command, process.returncode)
        reports = read_processes(folder)
    return ProgramRun(
        # The last mark may be read a moment after the end.
        wall=max([end, *marks[-1:]]) - start,
        cpu=usage.ru_utime + usage.ru_stime,
        compile=sum(report["compile"] for report in reports),
        # The kernel's figure is at least that of this process. It serves where nothing is compiled.
        memory=max((r["peak"] for r in reports), default=usage.ru_maxrss * 1024) / 1e6,
        first_step=marks[0] - start if marks else None,
        steps=tuple(b - a for a, b in pairwise(marks)),
    )


def _read(pipe: int, ended: int, text: list[bytes], marks: list[float]) -> None:
    """Read what a program prints until it ends: into `text`, and the times of its marks.

    ended: a pipe whose other end is closed when the program has ended: a child may hold the first.
    """
    line, has_ended = b"", False
    while not has_ended:
        ready = select.select([pipe, ended], [], [])[0]
        has_ended = ended in ready
        piece = os.read(pipe, PIECE) if pipe in ready else b""
        has_ended = has_ended or not piece
        *lines, line = (line + piece).split(b"\n")
        for each in lines:
            # A progress bar on standard error leaves its line open before the mark.
            if each.rstrip().endswith(MARK):
                marks.append(time.perf_counter())
                text.append(each.rstrip().removesuffix(MARK))
            else:
                text.append(each + b"\n")
    text.append(line)


def _end(
    process: subprocess.Popen[bytes], reader: threading.Thread
) -> resource.struct_rusage | None:
    """Kill what is left of a program's session, wait for the program; return what it has used.

    After an interrupt that is None, and the program may first remove its files.
    """
    usage = None
    if sys.exc_info()[0]:
        end_sessions([process])
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if reader.ident:
        reader.join()
    return usage


def bench(
    candidates: Sequence[Candidate],
    command: Sequence[str],
    *,
    rounds: int = 0,
    json_file: Path | None = None,
    run: Callable[[Candidate, Sequence[str]], ProgramRun] = run_once,
) -> list[str]:
    """Time a program on variants in rounds, after a first run of each; print a table.

    The first run compiles what the environment has not compiled before. rounds: 0 for the default.
    json_file: also write every run there. Returns the variant of the lowest median and those that
    the rounds do not show to be slower. Raises ProgramError with the program's status if it fails,
    CommandError if it cannot be started; then no figure is kept.
    """
    rounds = rounds or QUICK_ROUNDS
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}", expected="at least 1")
    turns = [(number, c) for number in range(rounds + 1) for c in rotated(candidates, number)]
    timed: dict[str, list[ProgramRun]] = {name_of(c.variant, candidates): [] for c in candidates}
    noises: list[Noise] = []
    begun = time.monotonic()
    with Progress(len(turns), parts=False) as progress:
        for done, (number, candidate) in enumerate(turns):
            name = name_of(candidate.variant, candidates)
            title = f"{f'round {number} of {rounds}' if number else 'first run'}: {name}"
            progress.update(title, done, seconds_left(begun, done, len(turns)))
            noise = watch_noise()
            timed[name].append(run(candidate, command))
            noises.append(noise())
            progress.print(f"  {title}: {timed[name][-1].wall:.2f} s")
    best = show(timed)
    for remark in noise_remarks(noises[len(candidates) :]):
        print(f"note: {remark}")
    if json_file:
        content = {
            "schema": SCHEMA,
            "command": list(command),
            "first": {name: asdict(found[0]) for name, found in timed.items()},
            "rounds": {name: list(map(asdict, found[1:])) for name, found in timed.items()},
        }
        write_atomically(json_file, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return best


def name_of(variant: Variant, candidates: Sequence[Candidate]) -> str:
    """Return the name of a variant among others: of two stacks with one id, the file."""
    is_unique = sum(each.variant.id == variant.id for each in candidates) == 1
    return variant.id if is_unique or not variant.file else display_path(variant.file)


def show(timed: Mapping[str, Sequence[ProgramRun]]) -> list[str]:
    """Print the figures of each variant, then the fastest if the rounds show one; return `best`.

    timed: {variant: its first run, and those of the rounds}.
    """
    reference = next(iter(timed))
    rounds = [
        _run(name, number, {"run": one.wall, "step": one.step, **costs}, one.memory)
        for name, found in timed.items()
        for number, one in enumerate(found[1:], 1)
        for costs in [{"processor time": one.cpu, "compilation": one.compile}]
    ]
    first = [_run(name, 0, {"first run": found[0].wall}) for name, found in timed.items()]
    measured = compared([*first, *rounds], dict.fromkeys(timed, reference))
    print("\n".join(lines(measured)))
    if len(timed) < 2:
        print("\none variant: nothing to compare it with")
        return [reference]
    shown = display_names(measured)[reference]
    print(f"ratio: how many times as fast as {shown} in the same rounds, the median")
    what = "step" if all(one.step for found in timed.values() for one in found[1:]) else "run"
    [best] = [names for measure, names in winners(rounds).items() if measure.name == what]
    medians = {row.subject: row.summary.median for row in measured if row.measure.name == what}
    best = tuple(sorted(best, key=medians.__getitem__))
    if len(best) > 1:
        print(f"\n{what}: the rounds show no fastest variant; {best[0]} has the lowest median")
    else:
        print(f"\n{what}: {best[0]} is the fastest")
    return list(best)


def _run(name: str, number: int, seconds: Mapping[str, float | None], memory: float = 0.0) -> Run:
    """Return the figures of a run as the bench's turns have them; 0 and None are no figure."""
    figures = [(what, "s", value) for what, value in seconds.items()]
    series = tuple(
        Series.model_construct(name=what, unit=unit, samples=(value,))
        for what, unit, value in (*figures, ("peak memory", "MB", memory))
        if value
    )
    return Run.model_construct(
        subject=name, workload="", threads=0, round=number, start=number, busy=0, series=series
    )
