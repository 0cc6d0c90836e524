"""Running a program over many arguments, several at a time, in one environment."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import StacksError, UsageError
from stacks.core.locking import acquire
from stacks.core.process import quoted, start_in_session
from stacks.core.signals import ended_like_by_interrupt
from stacks.environments.run import variables, warn
from stacks.variants.variant import Variant

PLACE, LIST = "{}", ":::"
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# In the folder of logs: a line for each run that has ended. It also says whose logs these are.
TABLE = "jobs.tsv"
COLUMNS = ("job", "status", "seconds", "argument")
ESCAPED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n"})
# Seconds.
POLL, GRACE = 0.05, 5.0


class JobsError(StacksError):
    """Some of the jobs failed."""


@dataclass(frozen=True)
class Job:
    """One run of the program: its number from 1, its argument, its command line."""

    number: int
    argument: str
    words: tuple[str, ...]

    def log(self, folder: Path) -> Path:
        """Return the path of the job's output."""
        return folder / f"{self.number}.log"


def jobs_of(command: Sequence[str], over: Path | None) -> list[Job]:
    """Return a job for each argument: a line of the file `over`, or a word after `:::`.

    `{}` in a word of the command stands for the argument; without one the argument comes last.
    Empty lines of the file are left out. Raises UsageError unless there are a command, arguments,
    and one source of them.
    """
    words = list(command)
    arguments: list[str] = []
    if has_list := LIST in words:
        at = words.index(LIST)
        words, arguments = words[:at], words[at + 1 :]
    if over and has_list:
        raise UsageError(f"arguments from {over} and after {LIST}", expected="one of them")
    if over:
        try:
            arguments = [line for line in over.read_text("utf-8").splitlines() if line.strip()]
        except OSError as error:
            raise UsageError(f"{over}: {error.strerror}", fix="check the path") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{over} is not UTF-8", expected="one argument a line") from error
    if not words or not arguments:
        raise UsageError(
            "nothing to run" if not words else "no arguments to run it over",
            fix="./invoke run --jobs 4 --variant NAME -- python sweep.py {} ::: 1 2 3, or "
            "--over FILE with one argument a line",
        )
    if not any(PLACE in word for word in words):
        words.append(PLACE)
    return [
        Job(number, argument, tuple(word.replace(PLACE, argument) for word in words))
        for number, argument in enumerate(arguments, 1)
    ]


def threads_each(jobs: int, cores: int, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that share the cores out, without those that the person has set."""
    share = str(max(1, cores // jobs))
    return {name: share for name in THREAD_VARIABLES if name not in env}


def run_jobs(
    variant: Variant, prefix: Path, jobs: Sequence[Job], at_once: int, folder: Path
) -> None:
    """Run all jobs, `at_once` at a time, each with a log in the folder; print how each ended.

    The logs of a former sweep in the folder are removed. On ctrl-C or SIGTERM all are ended. Raises
    UsageError for a number below 1, or if another sweep writes to the folder; JobsError if any job
    failed.
    """
    if at_once < 1:
        raise UsageError("no jobs at a time", expected="--jobs 1 or more")
    warn(variant, prefix)
    env = variables(prefix)
    cores = len(os.sched_getaffinity(0))
    env |= threads_each(min(at_once, len(jobs)), cores, env)
    with ended_like_by_interrupt(), _logs(folder):
        failed = _run_all(jobs, at_once, folder, env)
    if failed:
        raise JobsError(
            f"{len(failed)} of {len(jobs)} jobs failed: {quoted(jobs[0].words[:1])}",
            found="\n".join(failed),
            fix=f"read their logs in {folder}",
        )


@contextmanager
def _logs(folder: Path) -> Iterator[None]:
    """Make the folder of logs ready for a sweep, and keep it for the block."""
    try:
        with explain_disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = acquire(folder / ".lock", fcntl.LOCK_EX, limit=0)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError(f"{folder} is no folder", fix="choose another: --logs FOLDER") from error
    if descriptor is None:
        raise UsageError(
            f"another run --jobs writes its logs to {folder}", fix="choose another: --logs FOLDER"
        )
    try:
        if (folder / TABLE).is_file():
            for log in folder.glob("*.log"):
                if log.stem.isdecimal():
                    log.unlink()
        _write_row(folder, COLUMNS, "w")
        yield
    finally:
        os.close(descriptor)


def _write_row(folder: Path, fields: Sequence[object], mode: str = "a") -> None:
    # One line for each run, whatever its argument has in it.
    row = "\t".join(str(field).translate(ESCAPED) for field in fields)
    with (folder / TABLE).open(mode, encoding="utf-8", errors="surrogateescape") as table:
        table.write(f"{row}\n")


def _run_all(jobs: Sequence[Job], at_once: int, folder: Path, env: Mapping[str, str]) -> list[str]:
    """Run the jobs; return a line for each that failed."""
    failed: list[str] = []
    waiting = list(reversed(jobs))
    running: dict[Job, tuple[subprocess.Popen[bytes], float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop()
                with job.log(folder).open("wb") as log:
                    running[job] = start_in_session(job.words, log, env), time.monotonic()
            for job, (process, start) in list(running.items()):
                if (status := process.poll()) is not None:
                    del running[job]
                    seconds = f"{time.monotonic() - start:.1f}"
                    _write_row(folder, (job.number, status, seconds, job.argument))
                    line = f"{job.number}: {job.argument}: {_ending(status)}"
                    print(f"{line}, {job.log(folder)}", flush=True)
                    if status:
                        failed.append(line)
            time.sleep(POLL)
    finally:
        _end([process for process, _ in running.values()])
    return failed


def _ending(status: int) -> str:
    if status < 0:
        return f"killed by signal {-status}"
    return f"failed with status {status}" if status else "done"


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Interrupt the sessions of the processes, and kill what has not ended in time."""
    _signal(processes, signal.SIGINT)
    deadline = time.monotonic() + GRACE
    try:
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
    finally:
        # Also at a second ctrl-C.
        _signal(processes, signal.SIGKILL)
    for process in processes:
        process.wait()


def _signal(processes: Sequence[subprocess.Popen[bytes]], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
