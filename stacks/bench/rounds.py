"""The rounds: takes the turns one after another, each on processors of its own, beside busy loops.

The runs are collected with the noise around them.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from stacks.bench.processes import (
    NoAnswerError,
    Open,
    SuspendedProcess,
    TimedProgram,
    processor_seconds,
    start_program,
)
from stacks.bench.result import Missing, Run, Series, watch_noise
from stacks.bench.schedule import Plan, Turn, seconds_left
from stacks.core.console import Progress, plural, show_error
from stacks.core.errors import StacksError
from stacks.core.models import one_line
from stacks.core.process import CommandError, quoted, start
from verify.workloads.rounds import KERNELS, NUMBA

TOPOLOGY = Path("/sys/devices/system/cpu")
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
class Timed:
    """The runs, what did not answer in time, and whether all runs were pinned to processors."""

    runs: list[Run]
    missing: list[Missing]
    pinned: bool


class Crew:
    """The processes that take the turns.

    Each lives from round 0 to the last round of its start. It is stopped outside its turns, because
    the threads of an idle BLAS may spin.
    """

    def __init__(self, plan: Plan, open_process: Open = SuspendedProcess):
        """Take turns of a plan. open_process: starts the process of a workload."""
        self._plan, self._open = plan, open_process
        self._batch: object = None
        # {(the variant's id, the name of the process): program}
        self._programs: dict[tuple[str, str], TimedProgram] = {}
        self.missing: list[Missing] = []
        self.errors: list[StacksError] = []

    def close(self) -> None:
        """Kill all processes."""
        for each in self._programs.values():
            each.process.kill()
        self._programs.clear()

    def processor_seconds(self) -> float:
        """Return the processor time of the processes that are alive."""
        return sum(each.process.processor_seconds() for each in self._programs.values())

    def take(self, turn: Turn) -> list[Series]:
        """Take a turn and return its series, none for a start.

        A process that fails has no figure, and the others continue, if it did not answer in time,
        or in a campaign. Else its StacksError is raised.
        """
        if turn.round == 0:
            self._start(turn)
            return []
        series, calls = list[Series](), self._plan.calls_of(turn.workload)
        for (subject, name), each in list(self._programs.items()):
            if subject == turn.candidate.variant.id:
                with self._recording(turn, subject, name):
                    series += each.time(calls)
        return series

    def _start(self, turn: Turn) -> None:
        batch = turn.workload, turn.threads, turn.start
        if self._batch != batch:
            self.close()
            self._batch = batch
        subject = turn.candidate.variant.id
        together = self._plan.compiles_together(turn)
        for ending in self._plan.endings_of(turn):
            name = turn.workload + ending
            # One that has failed is not started again.
            if (subject, name, turn.threads) not in _keys(self.missing):
                started = start_program(self._plan, turn, ending, self._open)
                self._programs[subject, name] = started
                if not together:
                    self._wait(turn, subject, name)
        if together and turn.candidate is self._plan.candidates[-1]:
            for subject, name in list(self._programs):
                self._wait(turn, subject, name)

    def _wait(self, turn: Turn, subject: str, name: str) -> None:
        with self._recording(turn, subject, name):
            self._programs[subject, name].wait()

    @contextmanager
    def _recording(self, turn: Turn, subject: str, name: str) -> Iterator[None]:
        """Record that a process fails in the block, and kill it, if the others continue then."""
        try:
            try:
                yield
            except (KeyError, TypeError, ValueError) as error:
                raise StacksError(
                    f"{subject}: {turn.workload}: no measurement", found=str(error)
                ) from error
        except StacksError as error:
            is_late = isinstance(error, NoAnswerError)
            if not (self._plan.campaign or is_late):
                raise
            failed = self._programs.pop((subject, name)).process
            seconds = failed.processor_seconds()
            failed.kill()
            if not is_late:
                print(f"{subject} has no figure of {name}", file=sys.stderr)
                show_error(error)
            self.errors.append(error)
            self.missing.append(
                Missing(
                    subject=subject,
                    name=name,
                    threads=turn.threads,
                    round=turn.round,
                    limit=self._plan.options.seconds_limit,
                    processor=round(seconds, 1),
                    failure="" if is_late else one_line(str(error.found or "")) or "it failed",
                )
            )


def run(plan: Plan, open_process: Open = SuspendedProcess) -> Timed:
    """Take all turns of a plan and return the runs, without measures that failed in any round.

    open_process: as of Crew. Raises StacksError if a process fails outside of a campaign, or if all
    fail. All processes are killed in the end.
    """
    every = list(plan.turns())
    runs, pinned, begun = list[Run](), True, time.monotonic()
    with closing(Crew(plan, open_process)) as crew, Progress(len(every)) as progress:
        for number, turn in enumerate(every):
            progress.update(_title(turn, plan), number, seconds_left(begun, number, len(every)))
            # The loops start outside of the pinned block, so that the system places them freely.
            with (
                busy_loops(plan.options.busy if turn.round else 0) as loops,
                pinned_to(processors(turn.threads)) as allowed,
            ):
                runs += _take(turn, crew, loops)
            pinned = pinned and allowed
    answered = [each for one in runs for each in _without(crew.missing, one)]
    if crew.errors and not answered:
        raise crew.errors[0]
    return Timed(answered, crew.missing, pinned)


def _keys(missing: list[Missing]) -> set[tuple[str, str, int]]:
    return {(one.subject, one.name, one.threads) for one in missing}


def _without(missing: list[Missing], run: Run) -> Iterator[Run]:
    """Yield a run without what failed later, if anything is left: some rounds are a selection."""
    failed, is_kernel = _keys(missing), run.workload in KERNELS
    series = []
    for one in run.series:
        ending = NUMBA if one.name.endswith(NUMBA) and not is_kernel else ""
        if (run.subject, run.workload + ending, run.threads) not in failed:
            series.append(one)
    if series:
        yield run.model_copy(update={"series": tuple(series)})


def _take(turn: Turn, crew: Crew, loops: list[int]) -> list[Run]:
    """Take a turn; return its run with the noise around it, none where nothing is timed.

    loops: the processes of busy loops.
    """

    def living() -> float:
        return crew.processor_seconds() + sum(map(processor_seconds, loops))

    noise = watch_noise(living)
    begun = time.monotonic()
    series = crew.take(turn)
    if not series:
        return []
    return [
        Run(
            subject=turn.candidate.variant.id,
            workload=turn.workload,
            threads=turn.threads,
            round=turn.round,
            start=turn.start,
            busy=len(loops),
            seconds=time.monotonic() - begun,
            noise=noise(),
            series=tuple(series),
        )
    ]


def _title(turn: Turn, plan: Plan) -> str:
    names = f"{turn.candidate.variant.id}, {turn.workload}, {plural(turn.threads, 'thread')}"
    if turn.round:
        return f"round {turn.round} of {plan.options.round_count}: {names}"
    return f"start {turn.start}, compiling: {names}"


def processors(count: int, topology: Path = TOPOLOGY) -> list[int]:
    """Return `count` of the usable processors: a core's second thread only after all cores."""
    used: dict[str, int] = {}
    ranked = []
    for number in sorted(os.sched_getaffinity(0)):
        path = topology / f"cpu{number}/topology/thread_siblings_list"
        core = path.read_text() if path.is_file() else str(number)
        ranked.append((used.setdefault(core, 0), number))
        used[core] += 1
    return [number for _, number in sorted(ranked)][:count]


@contextmanager
def pinned_to(cpus: Sequence[int]) -> Iterator[bool]:
    """Pin the block and its processes to some processors; gives whether the system allows it."""
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def busy_loops(count: int) -> Iterator[list[int]]:
    """Run so many loops during the block; all are busy when it begins, and gone when it has ended.

    Gives their process ids. They may use the processors of this process. Raises CommandError if one
    cannot be started.
    """
    words = [sys.executable, "-I", "-S", "-c", LOOP]
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
        yield [process.pid for process in processes]
