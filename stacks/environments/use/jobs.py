"""Running a program over many arguments, several at a time, in one environment."""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import StacksError, UsageError
from stacks.core.locking import acquire
from stacks.core.process import put_off, start_in_session
from stacks.environments.use.run import variables, warn
from stacks.variants.variant import Variant
from verify.core import machine

PLACE, LIST = "{}", ":::"
THREAD_VARIABLES = tuple(
    f"{who}_NUM_THREADS" for who in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")
)
# In the folder of logs: a line for each run that has ended. Its name says whose logs these are.
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


# Takes a job that has ended, its exit status (minus a signal's number) and its seconds.
Record = Callable[[Job, int, float], None]


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
            # Editors on Windows begin a file with a byte order mark.
            lines = over.read_text("utf-8-sig").split("\n")
            arguments = [line for line in lines if line.strip()]
        except OSError as error:
            raise UsageError(f"{over}: {error.strerror}", fix="check the path") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{over} is not UTF-8", expected="one argument a line") from error
    if any("\0" in argument for argument in arguments):
        raise UsageError(f"{over} has zero bytes", expected="one argument a line")
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


def run_jobs(
    variant: Variant, prefix: Path, jobs: Sequence[Job], at_once: int, folder: Path
) -> None:
    """Run all jobs, `at_once` at a time, each with a log in the folder; print how each ended.

    The logs of a former sweep in the folder are removed. On ctrl-C or SIGTERM all are ended. Raises
    UsageError for a number below 1, or if another sweep writes to the folder; JobsError if any job
    failed.
    """
    check_number(at_once)
    warn(variant, prefix)
    with recorded(folder, len(jobs)) as record:
        env = shared_out(variant, variables(variant, prefix), at_once, len(jobs))
        run_each(jobs, at_once, folder, env, record)


def check_number(at_once: int) -> None:
    """Raise UsageError for a number of jobs at a time below 1."""
    if at_once < 1:
        raise UsageError("no jobs at a time", expected="--jobs 1 or more")


def shared_out(
    variant: Variant, env: Mapping[str, str], at_once: int, count: int
) -> dict[str, str]:
    """Return the variables of a job, with this machine's cores shared out among those at a time.

    Variables that are set stay. Where OMP_NUM_THREADS is set, only numba's is added, which does not
    read it: the others would take their own variables instead.
    """
    # The variant's own come into force when Python starts, where nothing else is set.
    given = {**variant.variables, **env}
    names = ("NUMBA_NUM_THREADS",) if given.get("OMP_NUM_THREADS") else THREAD_VARIABLES
    share = str(max(1, machine.usable_cores() // min(at_once, count)))
    return {**env, **{name: share for name in names if not given.get(name)}}


@contextmanager
def recorded(folder: Path, count: int) -> Iterator[Record]:
    """Make the folder of logs ready for a sweep of `count` jobs; give what each end is passed to.

    It adds a row to the folder's table and prints a line. The logs of a former sweep are removed.
    Raises UsageError if another sweep writes to the folder, or it has other files than a sweep's;
    after the block JobsError if any job failed.
    """
    failed: list[str] = []

    def record(job: Job, status: int, seconds: float) -> None:
        _write_row(folder, (job.number, status, f"{seconds:.1f}", job.argument))
        ending = f"failed with status {status}" if status else "done"
        ending = f"killed by signal {-status}" if status < 0 else ending
        line = f"{job.number}: {job.argument}: {ending}"
        print(f"{line}, {job.log(folder)}", flush=True)
        if status:
            failed.append(line)

    choose = "choose another: --logs FOLDER"
    with explain_disk_errors(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = acquire(folder / ".lock", fcntl.LOCK_EX, limit=0)
        except (FileExistsError, NotADirectoryError) as error:
            raise UsageError(f"{folder} is no folder", fix=choose) from error
    if descriptor is None:
        raise UsageError(f"another run --jobs writes its logs to {folder}", fix=choose)
    try:
        former = [path for path in folder.glob("*.log") if path.stem.isdecimal()]
        former += folder.glob(TABLE)
        # A table that is killed at once is empty.
        head = former[-1].read_text(errors="replace") if former else ""
        if head and not head.startswith("\t".join(COLUMNS)):
            name = former[-1].name
            raise UsageError(f"{folder} has {name}, which no run --jobs has written", fix=choose)
        for path in former:
            path.unlink()
        _write_row(folder, COLUMNS, "w")
        yield record
    finally:
        os.close(descriptor)
    if failed:
        raise JobsError(
            f"{len(failed)} of {count} jobs failed",
            found="\n".join(failed),
            fix=f"read their logs in {folder}",
        )


def run_each(
    jobs: Sequence[Job], at_once: int, folder: Path, env: Mapping[str, str], record: Record
) -> None:
    """Run the jobs, each with a log in the folder, and pass the end of each to `record`."""
    waiting = list(reversed(jobs))
    running: dict[Job, tuple[subprocess.Popen[bytes], float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop()
                with explain_disk_errors(folder):
                    log = job.log(folder).open("wb")
                with log, put_off():
                    running[job] = start_in_session(job.words, log, env), time.monotonic()
            for job, (process, start) in list(running.items()):
                if (status := process.poll()) is not None:
                    del running[job]
                    record(job, status, time.monotonic() - start)
            time.sleep(POLL)
    finally:
        end_sessions([process for process, _ in running.values()])


def _write_row(folder: Path, fields: Sequence[object], mode: str = "a") -> None:
    # One line for each run, whatever its argument has in it.
    row = "\t".join(str(field).translate(ESCAPED) for field in fields)
    with (
        explain_disk_errors(folder),
        (folder / TABLE).open(mode, encoding="utf-8", errors="surrogateescape") as table,
    ):
        table.write(f"{row}\n")


def end_sessions(processes: Sequence[subprocess.Popen[bytes]]) -> None:
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
