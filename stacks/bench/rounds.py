"""The rounds: takes the turns one after another and collects their runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from stacks.bench import machine, noise, probe
from stacks.bench.busy_loops import BusyLoops, busy_loops
from stacks.bench.candidates import Candidate
from stacks.bench.program import Failure, Open, Start, TimedProgram
from stacks.bench.progress import round_display
from stacks.bench.result import Missing, Run, Series
from stacks.bench.schedule import Plan, Turn, compiles_together, remaining, turns
from stacks.bench.suspended_process import NoAnswerError, SuspendedProcess
from stacks.core import cores
from stacks.core.console import plural, show_error
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.models import one_line
from stacks.variants.variant import SCAN_FIX
from verify.workloads import rounds as definition

Measure = Callable[[Candidate, str, int], list[Series]]


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
        self, plan: Plan, measure: Measure | None = None, open_process: Open = SuspendedProcess
    ):
        """Take turns of a plan.

        measure: times kernels, by default in a process. open_process: starts that of a program.
        """
        self._plan = plan
        self._measure = measure or self._measured
        self._open = open_process
        self._programs: dict[str, TimedProgram] = {}
        self.missing: list[Missing] = []
        self.errors: list[StacksError] = []

    def close(self) -> None:
        """Kill all programs."""
        for program in self._programs.values():
            program.kill()

    def take(self, turn: Turn) -> list[Series]:
        """Take a turn and return its series, none for the start of a program."""
        if turn.is_of_kernels:
            return self._time_kernels(turn)
        series: list[Series] = []
        if turn.starts:
            self._begin(turn)
        else:
            options = self._plan.options
            calls = options.calls or definition.calls_of(turn.workload, options.quick)
            series = self._program(turn).time(calls)
        self._record_failures(turn)
        return series

    def _time_kernels(self, turn: Turn) -> list[Series]:
        if "" in self._without(turn):
            return []
        try:
            return self._measure(turn.candidate, turn.workload, turn.threads)
        except StacksError as error:
            if not self._plan.campaign:
                raise
            self._record(turn, turn.candidate.variant.id, turn.workload, Failure(0.0, error))
            return []

    def _begin(self, turn: Turn) -> None:
        how = self._start_of(turn)
        program = TimedProgram(turn.candidate, turn.workload, how, self._open)
        self._programs[turn.candidate.variant.id] = program
        if not compiles_together(turn, self._plan):
            program.wait()
            return
        program.start()
        if len(self._programs) == len(self._plan.candidates):
            for each in self._programs.values():
                each.wait()

    def finish(self, turn: Turn, series: Sequence[Series]) -> list[Series]:
        """End a program after its last turn; return the turn's series with their profiles."""
        program = self._program(turn)
        profiles = program.profiles()
        self._record_failures(turn)
        program.kill()
        del self._programs[turn.candidate.variant.id]
        return [one.model_copy(update={"profile": profiles.get(one.name)}) for one in series]

    def _record_failures(self, turn: Turn) -> None:
        """Record the new failures of all programs: with --together all compile in one turn."""
        for subject, program in self._programs.items():
            for ending, failure in program.new_failures().items():
                self._record(turn, subject, turn.workload + ending, failure)

    def _record(self, turn: Turn, subject: str, name: str, failure: Failure) -> None:
        self.errors.append(failure.error)
        is_late = isinstance(failure.error, NoAnswerError)
        if not is_late:
            print(f"{subject} has no figure of {name}", file=sys.stderr)
            show_error(failure.error)
        self.missing.append(
            Missing(
                subject=subject,
                name=name,
                threads=turn.threads,
                round=turn.round,
                limit=self._plan.options.seconds_limit,
                processor=round(failure.processor, 1),
                failure="" if is_late else one_line(str(failure.error.found or "")) or "it failed",
            )
        )

    def processor_seconds(self) -> float:
        """Return the processor time of the programs that are alive."""
        return sum(program.processor_seconds() for program in self._programs.values())

    def _program(self, turn: Turn) -> TimedProgram:
        return self._programs[turn.candidate.variant.id]

    def _measured(self, candidate: Candidate, workload: str, threads: int) -> list[Series]:
        options = self._plan.options
        limit = options.seconds_limit
        return probe.measure(candidate, workload, threads, quick=options.quick, limit=limit)

    def _start_of(self, turn: Turn) -> Start:
        plan = self._plan
        options = probe.shared_modules(turn.candidate.place)
        env = probe.environment_of(turn.candidate, turn.threads)
        if plan.options.fix_scan:
            options.append("--fix-scan")
            # The baseline's environment lacks this module.
            env["PYTHONPATH"] = str(REPOSITORY / "recipes" / SCAN_FIX / "src")
        return Start(
            options=tuple(options),
            env=env,
            limit=plan.options.seconds_limit,
            quick=plan.options.quick,
            alone=not compiles_together(turn, plan),
            warm=turn.start > 1,
            keep_going=plan.campaign,
            without=self._without(turn),
        )

    def _without(self, turn: Turn) -> list[str]:
        """Return the endings of series that are left out, or failed at an earlier start."""
        here = (turn.candidate.variant.id, turn.threads)
        failed = [m.name for m in self.missing if (m.subject, m.threads) == here]
        if self._plan.campaign and self._plan.options.quick:
            failed.append(turn.workload + definition.NUMBA)
        return [e for e in ("", definition.NUMBA) if turn.workload + e in failed]


def run(plan: Plan, measure: Measure | None = None, open_process: Open = SuspendedProcess) -> Timed:
    """Take all turns of a plan and return the runs, without measures that failed in any round.

    Raises StacksError if a process fails outside of a campaign, or if all fail. All processes are
    killed in the end.
    """
    # Before this process is pinned to some of them.
    every, usable = list(turns(plan)), cores.affine()
    done: list[tuple[Turn, float]] = []
    runs: list[Run] = []
    pinned = True
    with closing(Crew(plan, measure, open_process)) as crew, round_display(len(every)) as display:
        for number, turn in enumerate(every):
            seconds, is_whole = remaining(done, every[number:])
            display.update(_title(turn, plan), number, seconds, is_whole=is_whole)
            begun = time.monotonic()
            # The loops start outside of the pinned block, so that the system places them freely.
            with (
                busy_loops(plan.options.busy if turn.round else 0) as loops,
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
            if (each.subject, probe.process_of(each.workload, one.name), each.threads) not in failed
        )
        if series:
            answered.append(each.model_copy(update={"series": series}))
    return answered


def _take(turn: Turn, crew: Crew, loops: BusyLoops, usable: int) -> list[Run]:
    """Take a turn; return its run with the noise around it, none where nothing is timed.

    usable: the machine's usable cores.
    """
    before = noise.read(crew.processor_seconds() + loops.processor_seconds())
    begun = time.monotonic()
    series = crew.take(turn)
    seconds = time.monotonic() - begun
    after = noise.read(crew.processor_seconds() + loops.processor_seconds())
    if turn.last:
        series = crew.finish(turn, series)
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
            noise=noise.between(before, after, usable),
            series=tuple(series),
        )
    ]


def _title(turn: Turn, plan: Plan) -> str:
    names = f"{turn.candidate.variant.id}, {turn.workload}, {plural(turn.threads, 'thread')}"
    if turn.starts:
        return f"start {turn.start}, compiling: {names}"
    return (
        f"round {turn.round} of {plan.options.round_count}: {names}"
        if turn.round
        else f"warming up: {names}"
    )
