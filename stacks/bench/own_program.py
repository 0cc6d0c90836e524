"""Timing a person's own program in several environments, in turn.

Each run is a whole process: wall and processor time, peak memory, the time in the compilation of
functions, and, where the program prints the line THEANO_STACKS_STEP after each step, the time of a
step. Another variant is the first in each round, as in the bench of workloads.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from stacks.bench import noise
from stacks.bench.candidates import Candidate
from stacks.bench.command import choose_candidates
from stacks.bench.own_program_table import show
from stacks.bench.program_run import Marks, ProgramRun
from stacks.core import cores, jsonfile
from stacks.core.console import display_path
from stacks.core.disk import scratch, write_atomically
from stacks.core.errors import UsageError
from stacks.core.process import start_in_session
from stacks.core.signals import ended_like_by_interrupt, put_off
from stacks.core.workspace import Workspace
from stacks.environments import run as runs
from stacks.profiles.program import HOOK, failure
from stacks.variants.variant import Variant

ROUNDS = 9
STEP = b"THEANO_STACKS_STEP"
FOLDER_VARIABLE = "THEANO_STACKS_TIMES"
SCHEMA = 1


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
) -> list[str]:
    """Time a program on variants in rounds, after a first run of each; print a table.

    The first run compiles what the environment has not compiled before. json_file: also write every
    run there. Returns the variant of the lowest median and those that the rounds do not show to be
    slower. Raises ProgramError with the program's status if it fails, CommandError if it cannot be
    started; then no figure is kept.
    """
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}", expected="at least 1")
    first: dict[str, ProgramRun] = {}
    timed: dict[str, list[ProgramRun]] = {_name(c.variant, candidates): [] for c in candidates}
    noises = []
    for number, candidate in turns(candidates, rounds):
        name = _name(candidate.variant, candidates)
        before = noise.read()
        result = run_once(candidate, command)
        if number:
            timed[name].append(result)
            noises.append(noise.between(before, noise.read(), cores.affine()))
        else:
            first[name] = result
        of = f"round {number} of {rounds}" if number else "first run"
        print(f"  {of}: {name}: {result.wall:.2f} s", file=sys.stderr, flush=True)
    best = show(first, timed)
    for remark in noise.remarks(noises):
        print(f"note: {remark}")
    if json_file:
        content = {
            "schema": SCHEMA,
            "command": list(command),
            "first": {name: asdict(run) for name, run in first.items()},
            "rounds": {name: [asdict(run) for run in found] for name, found in timed.items()},
        }
        write_atomically(json_file, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return best


def _name(variant: Variant, candidates: Sequence[Candidate]) -> str:
    """Return the name of a variant among others: of two stacks with one id, the file."""
    is_unique = sum(each.variant.id == variant.id for each in candidates) == 1
    return variant.id if is_unique or not variant.file else display_path(variant.file)


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
            process = None
            try:
                with os.fdopen(writing, "wb") as end, put_off():
                    process = start_in_session(command, end, env)
                marks = Marks(process.pid)
                lines = _read(output, marks)
                _, code, usage = os.wait4(process.pid, 0)
            except BaseException:
                if process:
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
        # A progress bar on standard error leaves its line open before the mark.
        if line.rstrip().endswith(STEP):
            marks.add()
            line = line.rstrip().removesuffix(STEP)
        lines.append(line)
    return b"".join(lines)
