"""The rounds: takes the turns one after another and collects their runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass

from stacks.bench import machine, program
from stacks.bench.processes import BusyLoops, NoAnswerError, SuspendedProcess, busy_loops
from stacks.bench.program import Measure, Open, TimedProgram
from stacks.bench.result import Missing, Run, Series
from stacks.bench.schedule import Plan, Turn, remaining
from stacks.core import cores
from stacks.core.console import Progress, plural, show_error
from stacks.core.errors import StacksError
from stacks.core.models import one_line
from verify.workloads.rounds import calls_of


@dataclass(frozen=True)
class Timed:
    """The runs, what did not answer in time, and whether all runs were pinned to processors."""

    runs: list[Run]
    missing: list[Missing]
    pinned: bool


class Crew:
    """The processes that take the turns: a new one for each turn of kernels, and programs.

    A program lives from round 0 to the last round of its start. It is stopped outside its turns,
    because the threads of an idle BLAS may spin.
    """

    def __init__(
        self,
        plan: Plan,
        measure: Measure = program.measure_kernels,
        open_process: Open = SuspendedProcess,
    ):
        """Take turns of a plan.

        measure: times kernels. open_process: starts the process of a program.
        """
        self._plan, self._measure, self._open = plan, measure, open_process
        self._batch: object = None
        # {(the variant's id, the name of the process): program}
        self._programs: dict[tuple[str, str], TimedProgram] = {}
        self.missing: list[Missing] = []
        self.errors: list[StacksError] = []

    def close(self) -> None:
        """Kill all programs."""
        for each in self._programs.values():
            each.process.kill()
        self._programs.clear()

    def processor_seconds(self) -> float:
        """Return the processor time of the programs that are alive."""
        return sum(each.process.processor_seconds() for each in self._programs.values())

    def take(self, turn: Turn) -> list[Series]:
        """Take a turn and return its series, none for the start of a program.

        A process that fails has no figure, and the others continue, if it did not answer in time,
        or in a campaign. Else its StacksError is raised.
        """
        subject, series = turn.candidate.variant.id, list[Series]()
        if turn.is_of_kernels:
            if not self._has_failed(turn, turn.workload):
                with self._recording(turn, subject, turn.workload):
                    series = self._measure(self._plan, turn)
        elif turn.starts:
            self._start(turn)
        else:
            options = self._plan.options
            calls = options.calls or calls_of(turn.workload, options.quick)
            for (of, name), each in list(self._programs.items()):
                if of == subject:
                    with self._recording(turn, subject, name):
                        series += each.time(calls)
        return series

    def _start(self, turn: Turn) -> None:
        if self._batch != turn.batch:
            self.close()
            self._batch = turn.batch
        subject = turn.candidate.variant.id
        together = self._plan.compiles_together(turn)
        for ending in program.endings_of(self._plan, turn):
            name = turn.workload + ending
            if not self._has_failed(turn, name):
                started = program.start_program(self._plan, turn, ending, self._open)
                self._programs[subject, name] = started
                if not together:
                    self._wait(turn, subject, name)
        if together and turn.candidate is self._plan.candidates[-1]:
            for subject, name in list(self._programs):
                self._wait(turn, subject, name)

    def _wait(self, turn: Turn, subject: str, name: str) -> None:
        with self._recording(turn, subject, name):
            self._programs[subject, name].wait()

    def _has_failed(self, turn: Turn, name: str) -> bool:
        """Return whether a process of this name failed before, which is then not started again."""
        here = (turn.candidate.variant.id, name, turn.threads)
        return here in {(one.subject, one.name, one.threads) for one in self.missing}

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
            seconds = 0.0
            if failed := self._programs.pop((subject, name), None):
                seconds = failed.process.processor_seconds()
                failed.process.kill()
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


def run(
    plan: Plan,
    measure: Measure = program.measure_kernels,
    open_process: Open = SuspendedProcess,
    start_loops: Callable[[int], AbstractContextManager[BusyLoops]] = busy_loops,
) -> Timed:
    """Take all turns of a plan and return the runs, without measures that failed in any round.

    measure, open_process: as of Crew. start_loops: runs busy loops during a block.

    Raises StacksError if a process fails outside of a campaign, or if all fail. All processes are
    killed in the end.
    """
    # Before this process is pinned to some of them.
    every, usable = list(plan.turns()), cores.affine()
    done: list[tuple[Turn, float]] = []
    runs: list[Run] = []
    pinned = True
    with closing(Crew(plan, measure, open_process)) as crew, Progress(len(every)) as progress:
        for number, turn in enumerate(every):
            seconds, is_whole = remaining(done, every[number:])
            progress.update(_title(turn, plan), number, seconds, is_whole=is_whole)
            begun = time.monotonic()
            # The loops start outside of the pinned block, so that the system places them freely.
            with (
                start_loops(plan.options.busy if turn.round else 0) as loops,
                machine.pinned_to(machine.processors(turn.threads)) as allowed,
            ):
                runs += _take(turn, crew, loops, usable)
            pinned = pinned and allowed
            done.append((turn, time.monotonic() - begun))
    answered = _answered(runs, crew.missing)
    if crew.errors and not answered:
        raise crew.errors[0]
    return Timed(answered, crew.missing, pinned)


def _answered(runs: Sequence[Run], missing: Sequence[Missing]) -> list[Run]:
    """Leave out measures that failed: their earlier rounds would be a selection."""
    failed = {(one.subject, one.name, one.threads) for one in missing}
    answered = []
    for each in runs:
        series = tuple(
            one
            for one in each.series
            if (each.subject, program.process_of(each.workload, one.name), each.threads)
            not in failed
        )
        if series:
            answered.append(each.model_copy(update={"series": series}))
    return answered


def _take(turn: Turn, crew: Crew, loops: BusyLoops, usable: int) -> list[Run]:
    """Take a turn; return its run with the noise around it, none where nothing is timed.

    usable: the machine's usable cores.
    """
    before = machine.read(crew.processor_seconds() + loops.processor_seconds())
    begun = time.monotonic()
    series = crew.take(turn)
    seconds = time.monotonic() - begun
    after = machine.read(crew.processor_seconds() + loops.processor_seconds())
    if not (turn.round and series):
        return []
    return [
        Run(
            subject=turn.candidate.variant.id,
            workload=turn.workload,
            threads=turn.threads,
            round=turn.round,
            start=turn.start,
            busy=len(loops.processes),
            seconds=seconds,
            noise=machine.between(before, after, usable),
            series=tuple(series),
        )
    ]


def _title(turn: Turn, plan: Plan) -> str:
    names = f"{turn.candidate.variant.id}, {turn.workload}, {plural(turn.threads, 'thread')}"
    if turn.starts:
        return f"start {turn.start}, compiling: {names}"
    if not turn.round:
        return f"warming up: {names}"
    return f"round {turn.round} of {plan.options.round_count}: {names}"
