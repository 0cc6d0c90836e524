"""Rounds: the turns are taken one after another, and what was measured in them is kept."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import closing

from stacks import settings
from stacks.bench import machine, noise, worker
from stacks.bench.candidates import Candidate
from stacks.bench.program import Program
from stacks.bench.progress import board
from stacks.bench.results import Run, Series
from stacks.bench.turns import Plan, Turn, turns
from stacks.bench.turns import remaining as left_after

Measure = Callable[[Candidate, str, int], list[Series]]
Start = Callable[[Turn], Program]


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
        self._programs: dict[str, Program] = {}

    def close(self) -> None:
        """End every program that is alive."""
        for program in self._programs.values():
            program.kill()

    def take(self, turn: Turn) -> list[Series]:
        """Take a turn and return what was measured: nothing where a program was started."""
        if turn.workload in worker.OWN:
            return self._measure(turn.candidate, turn.workload, turn.threads)
        if turn.starts:
            self._begin(turn)
            return []
        return self._program(turn).time(self._calls(turn))

    def _begin(self, turn: Turn) -> None:
        program = self._programs[turn.candidate.variant.id] = self._start(turn)
        if not self._plan.together:
            program.wait()
            return
        program.start()
        if len(self._programs) == len(self._plan.candidates):
            for each in self._programs.values():
                each.wait()

    def finish(self, turn: Turn, run: Run) -> Run:
        """End a program after its last turn; return the turn's run with the profiles in it."""
        program = self._program(turn)
        profiles = program.profiles()
        program.kill()
        del self._programs[turn.candidate.variant.id]
        series = tuple(
            one.model_copy(update={"profile": profiles.get(one.name)}) for one in run.series
        )
        return run.model_copy(update={"series": series})

    def expected(self, turn: Turn) -> list[tuple[Turn, float]]:
        """Return what the turns of a program will take, as its first calls let expect."""
        seconds = self._program(turn).first_calls() * self._calls(turn)
        if not seconds:
            return []
        return [(dataclasses.replace(turn, round=1), seconds)]

    def processor_seconds(self) -> float:
        """Return the processor time of the programs that are alive."""
        return sum(program.processor_seconds() for program in self._programs.values())

    def _program(self, turn: Turn) -> Program:
        return self._programs[turn.candidate.variant.id]

    def _calls(self, turn: Turn) -> int:
        return self._plan.calls or worker.calls_of(turn.workload, self._plan.quick)

    def _measured(self, candidate: Candidate, workload: str, threads: int) -> list[Series]:
        plan = self._plan
        return worker.measure(candidate, workload, threads, quick=plan.quick, limit=plan.limit)

    def _started(self, turn: Turn) -> Program:
        options = worker.options_of(turn.workload, self._plan.quick)
        env = worker.environment_of(turn.candidate, turn.threads)
        if self._plan.mend_scan and turn.candidate.variant.framework.module == "theano":
            options = [*options, "--mend-scan"]
            # The baseline has no such module of its own.
            env["PYTHONPATH"] = str(settings.SITE_FOLDER)
        alone = not self._plan.together
        return Program(turn.candidate, turn.workload, options, env, self._plan.limit, alone=alone)


def run(
    plan: Plan, measure: Measure | None = None, start: Start | None = None
) -> tuple[list[Run], bool]:
    """Time everything; return the runs and whether they were kept to processors of their own.

    Raises StacksError where a process fails or hangs; no process is left behind in any case.
    """
    every = list(turns(plan))
    done: list[tuple[Turn, float]] = []
    runs: list[Run] = []
    pinned = True
    with closing(Crew(plan, measure, start)) as crew, board(len(every)) as shown:
        for number, turn in enumerate(every):
            shown.tell(_told(turn, plan), number, left_after(done, every[number:]))
            begun = time.monotonic()
            with machine.kept_to(machine.processors(turn.threads)) as kept:
                found = _taken(turn, crew)
            pinned = pinned and kept
            if turn.last:
                found = [crew.finish(turn, one) for one in found]
            done.append((turn, time.monotonic() - begun))
            if turn.starts:
                done += crew.expected(turn)
            if turn.round:
                runs += found
    return runs, pinned


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
