"""Rounds: the turns are taken one after another, and what was measured in them is kept."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from stacks.bench import machine, noise, probe
from stacks.bench.candidates import Candidate
from stacks.bench.program import TimedProgram
from stacks.bench.progress import round_display
from stacks.bench.result import NUMBA, Missing, Run, Series
from stacks.bench.schedule import Plan, Turn, turns
from stacks.bench.schedule import remaining as left_after
from stacks.bench.suspended_process import NoAnswerError
from stacks.environments import settings

Measure = Callable[[Candidate, str, int], list[Series]]
Start = Callable[[Turn], TimedProgram]


@dataclass(frozen=True)
class Timed:
    """What was measured, what gave no answer, and whether all kept to processors of their own."""

    runs: list[Run]
    missing: list[Missing]
    pinned: bool


class Crew:
    """The processes that take the turns: new ones for the bench's own workloads, and programs.

    A program is alive from round 0 to the last round of its start, and stopped but in its turns:
    the threads of an idle BLAS would spin.
    """

    def __init__(self, plan: Plan, measure: Measure | None = None, start: Start | None = None):
        """Take turns of a plan; `measure` and `start` do the work where they are given."""
        self._plan = plan
        self._measure = measure or self._measured
        self._start = start or self._started
        self._programs: dict[str, TimedProgram] = {}
        self.missing: list[Missing] = []
        self.errors: list[NoAnswerError] = []

    def close(self) -> None:
        """End every program that is alive."""
        for program in self._programs.values():
            program.kill()

    def take(self, turn: Turn) -> list[Series]:
        """Take a turn and return what was measured: nothing where a program was started."""
        if turn.workload in probe.OWN:
            return self._measure(turn.candidate, turn.workload, turn.threads)
        found: list[Series] = []
        if turn.starts:
            self._begin(turn)
        else:
            found = self._program(turn).time(self._calls(turn))
        self._note(turn)
        return found

    def _begin(self, turn: Turn) -> None:
        program = self._programs[turn.candidate.variant.id] = self._start(turn)
        if not self._plan.together:
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
        self._note(turn)
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

    def _note(self, turn: Turn) -> None:
        """Note which processes did not answer: all of them compile in one turn, where so asked."""
        for subject, program in self._programs.items():
            for ending, silence in program.silences().items():
                self.errors.append(silence.error)
                self.missing.append(
                    Missing(
                        subject=subject,
                        name=turn.workload + ending,
                        threads=turn.threads,
                        round=turn.round,
                        limit=self._plan.limit,
                        processor=round(silence.processor, 1),
                    )
                )

    def expected(self, turn: Turn) -> list[tuple[Turn, float]]:
        """Return what the turns of a program will take, as its first calls let expect."""
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
        options = probe.options_of(turn.workload, self._plan.quick)
        env = probe.environment_of(turn.candidate, turn.threads)
        if self._plan.fix_scan:
            options = [*options, "--fix-scan"]
            # The baseline has no such module of its own.
            env["PYTHONPATH"] = str(settings.SITE_FOLDER)
        return TimedProgram(
            turn.candidate,
            turn.workload,
            options,
            env,
            self._plan.limit,
            alone=not self._plan.together,
            without=self.without(turn),
        )

    def without(self, turn: Turn) -> list[str]:
        """Return the endings of what did not answer at an earlier start: it has had its time."""
        here = (turn.candidate.variant.id, turn.threads)
        silent = [m.name for m in self.missing if (m.subject, m.threads) == here]
        return [ending for ending in ("", NUMBA) if turn.workload + ending in silent]


def run(plan: Plan, measure: Measure | None = None, start: Start | None = None) -> Timed:
    """Time everything; what does not answer is left out, with what it had answered before.

    Raises StacksError where a process fails, or nothing answers; no process is left behind in any
    case.
    """
    every = list(turns(plan))
    done: list[tuple[Turn, float]] = []
    runs: list[Run] = []
    pinned = True
    with closing(Crew(plan, measure, start)) as crew, round_display(len(every)) as shown:
        for number, turn in enumerate(every):
            shown.tell(_told(turn, plan), number, left_after(done, every[number:]))
            begun = time.monotonic()
            with machine.kept_to(machine.processors(turn.threads)) as kept:
                found = _taken(turn, crew)
            pinned = pinned and kept
            if turn.last:
                found = crew.finish(turn, found)
            done.append((turn, time.monotonic() - begun))
            if turn.starts:
                done += crew.expected(turn)
            if turn.round:
                runs += found
    answered = _answered(runs, crew.missing)
    if crew.errors and not answered:
        raise crew.errors[0]
    return Timed(answered, crew.missing, pinned)


def _answered(runs: Sequence[Run], missing: Sequence[Missing]) -> list[Run]:
    """Leave out what fell silent: its earlier rounds are those in which it happened to answer."""
    silent = {(one.subject, one.name, one.threads) for one in missing}
    found = []
    for each in runs:
        series = tuple(
            one
            for one in each.series
            if (each.subject, each.workload + _ending(one), each.threads) not in silent
        )
        if series:
            found.append(each.model_copy(update={"series": series}))
    return found


def _ending(series: Series) -> str:
    return NUMBA if series.name.endswith(NUMBA) else ""


def _taken(turn: Turn, crew: Crew) -> list[Run]:
    """Take a turn; return its run with the noise around it, if it has one."""
    before = noise.read(living=crew.processor_seconds())
    begun = time.monotonic()
    series = crew.take(turn)
    seconds = time.monotonic() - begun
    if not series:
        return []
    after = noise.read(living=crew.processor_seconds())
    return [
        Run(
            subject=turn.candidate.variant.id,
            workload=turn.workload,
            threads=turn.threads,
            round=max(turn.round, 1),
            start=turn.start,
            seconds=seconds,
            noise=noise.between(before, after, machine.usable()),
            series=tuple(series),
        )
    ]


def _told(turn: Turn, plan: Plan) -> str:
    plural = "" if turn.threads == 1 else "s"
    what = f"{turn.candidate.variant.id}, {turn.workload}, {turn.threads} thread{plural}"
    if turn.starts:
        return f"start {turn.start}, compiling: {what}"
    return f"round {turn.round} of {plan.rounds}: {what}" if turn.round else f"warming up: {what}"
