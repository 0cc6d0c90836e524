"""The rounds: takes the turns one after another and collects their runs."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from stacks.bench import machine, noise, probe
from stacks.bench.busy_loops import BusyLoops, busy_loops
from stacks.bench.candidates import Candidate
from stacks.bench.program import Failure, TimedProgram
from stacks.bench.progress import round_display
from stacks.bench.result import NUMBA, Missing, Run, Series
from stacks.bench.schedule import Plan, Turn, compiles_together, turns
from stacks.bench.schedule import remaining as left_after
from stacks.bench.suspended_process import NoAnswerError
from stacks.core import cores
from stacks.core.console import plural, show_error
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.models import one_line
from stacks.variants.variant import SCAN_FIX

Measure = Callable[[Candidate, str, int], list[Series]]
Start = Callable[[Turn], TimedProgram]


@dataclass(frozen=True)
class Timed:
    """The runs, what did not answer in time, and whether all runs were pinned to processors."""

    runs: list[Run]
    missing: list[Missing]
    pinned: bool


class Crew:
    """The processes that take the turns: a new one for each own workload, and programs.

    A program lives from round 0 to the last round of its start. It is stopped outside its turns,
    because the threads of an idle BLAS may spin.
    """

    def __init__(self, plan: Plan, measure: Measure | None = None, start: Start | None = None):
        """Take turns of a plan; `measure` and `start` replace the real processes in tests."""
        self._plan = plan
        self._measure = measure or self._measured
        self._start = start or self._started
        self._programs: dict[str, TimedProgram] = {}
        self.missing: list[Missing] = []
        self.errors: list[StacksError] = []

    def close(self) -> None:
        """Kill all programs."""
        for program in self._programs.values():
            program.kill()

    def take(self, turn: Turn) -> list[Series]:
        """Take a turn and return its series, none for the start of a program."""
        if turn.is_own:
            return self._take_own(turn)
        series: list[Series] = []
        if turn.starts:
            self._begin(turn)
        else:
            series = self._program(turn).time(self._calls(turn))
        self._record_failures(turn)
        return series

    def _take_own(self, turn: Turn) -> list[Series]:
        if "" in self.without(turn):
            return []
        try:
            return self._measure(turn.candidate, turn.workload, turn.threads)
        except StacksError as error:
            if not self._plan.keep_going:
                raise
            self._record(turn, turn.candidate.variant.id, turn.workload, Failure(0.0, error))
            return []

    def _begin(self, turn: Turn) -> None:
        program = self._programs[turn.candidate.variant.id] = self._start(turn)
        if not compiles_together(turn, self._plan):
            program.wait()
            return
        program.start()
        if len(self._programs) == len(self._plan.candidates):
            for each in self._programs.values():
                each.wait()

    def finish(self, turn: Turn, runs: Sequence[Run]) -> list[Run]:
        """End a program after its last turn; return the turn's runs with the profiles in them."""
        program = self._program(turn)
        profiles = program.profiles()
        self._record_failures(turn)
        program.kill()
        del self._programs[turn.candidate.variant.id]
        return [
            run.model_copy(
                update={
                    "series": tuple(
                        one.model_copy(update={"profile": profiles.get(one.name)})
                        for one in run.series
                    )
                }
            )
            for run in runs
        ]

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
                limit=self._plan.limit,
                processor=round(failure.processor, 1),
                failure="" if is_late else one_line(str(failure.error.found or "")) or "it failed",
            )
        )

    def expected(self, turn: Turn) -> list[tuple[Turn, float]]:
        """Return a turn of the program with its expected seconds, from the first calls."""
        seconds = self._program(turn).first_calls() * self._calls(turn)
        if not seconds:
            return []
        return [(dataclasses.replace(turn, round=1), seconds)]

    def processor_seconds(self) -> float:
        """Return the processor time of the programs that are alive."""
        return sum(program.processor_seconds() for program in self._programs.values())

    def _program(self, turn: Turn) -> TimedProgram:
        return self._programs[turn.candidate.variant.id]

    def _calls(self, turn: Turn) -> int:
        return self._plan.calls or probe.calls_of(turn.workload, self._plan.quick)

    def _measured(self, candidate: Candidate, workload: str, threads: int) -> list[Series]:
        plan = self._plan
        return probe.measure(candidate, workload, threads, quick=plan.quick, limit=plan.limit)

    def _started(self, turn: Turn) -> TimedProgram:
        options = probe.options_of(turn.candidate, turn.workload, self._plan.quick)
        env = probe.environment_of(turn.candidate, turn.threads)
        if self._plan.fix_scan:
            options = [*options, "--fix-scan"]
            # The baseline's environment lacks this module.
            env["PYTHONPATH"] = str(REPOSITORY / "recipes" / SCAN_FIX / "src")
        return TimedProgram(
            turn.candidate,
            turn.workload,
            options,
            env,
            self._plan.limit,
            alone=not compiles_together(turn, self._plan),
            warm=turn.start > 1,
            keep_going=self._plan.keep_going,
            without=self.without(turn),
        )

    def without(self, turn: Turn) -> list[str]:
        """Return the endings of measures that are left out, or failed at an earlier start."""
        here = (turn.candidate.variant.id, turn.threads)
        failed = [m.name for m in self.missing if (m.subject, m.threads) == here]
        if not self._plan.with_numba:
            failed.append(turn.workload + NUMBA)
        return [ending for ending in ("", NUMBA) if turn.workload + ending in failed]


def run(plan: Plan, measure: Measure | None = None, start: Start | None = None) -> Timed:
    """Take all turns of a plan and return the runs, without measures that failed in any round.

    Raises StacksError if a process fails and the plan does not keep going, or if all fail. All
    processes are killed in the end.
    """
    # Before this process is pinned to some of them.
    every, usable = list(turns(plan)), cores.affine()
    done: list[tuple[Turn, float]] = []
    runs: list[Run] = []
    pinned = True
    with closing(Crew(plan, measure, start)) as crew, round_display(len(every)) as display:
        for number, turn in enumerate(every):
            display.update(_title(turn, plan), number, left_after(done, every[number:]))
            begun = time.monotonic()
            # The loops start outside of the pinned block, so that the system places them freely.
            with (
                busy_loops(plan.busy if turn.round else 0) as loops,
                machine.pinned_to(machine.processors(turn.threads)) as allowed,
            ):
                taken = _take(turn, crew, loops, usable)
                if turn.last:
                    taken = crew.finish(turn, taken)
            pinned = pinned and allowed
            done.append((turn, time.monotonic() - begun))
            if turn.starts:
                done += crew.expected(turn)
            if turn.round:
                runs += taken
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
    """Take a turn and return its run with the noise around it, none for the start of a program.

    usable: the machine's usable cores.
    """
    before = noise.read(living=crew.processor_seconds() + loops.processor_seconds())
    begun = time.monotonic()
    series = crew.take(turn)
    seconds = time.monotonic() - begun
    if not series:
        return []
    after = noise.read(living=crew.processor_seconds() + loops.processor_seconds())
    return [
        Run(
            subject=turn.candidate.variant.id,
            workload=turn.workload,
            threads=turn.threads,
            round=max(turn.round, 1),
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
    return f"round {turn.round} of {plan.rounds}: {names}" if turn.round else f"warming up: {names}"
