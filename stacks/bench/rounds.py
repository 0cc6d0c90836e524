"""Rounds: every variant is timed once in each, in an order that turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stacks.bench import machine, noise, worker
from stacks.bench.candidates import Candidate
from stacks.bench.progress import board
from stacks.bench.results import Run, Series

Measure = Callable[[Candidate, str, int], list[Series]]


@dataclass(frozen=True)
class Turn:
    """One process to be started: which variant, what, on how many threads, in which round.

    Round 0 compiles and warms up; what it measures is not kept.
    """

    candidate: Candidate
    workload: str
    threads: int
    round: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be timed."""

    candidates: tuple[Candidate, ...]
    workloads: tuple[str, ...]
    threads: tuple[int, ...]
    rounds: int
    quick: bool


def turns(plan: Plan) -> Iterator[Turn]:
    """Yield every turn in order: A B C, then B C A, so that no variant is always the first.

    What is compared stands next to each other: of one workload and one count of threads.
    """
    for workload in plan.workloads:
        for candidate in plan.candidates:
            yield Turn(candidate, workload, counts_of(workload, plan)[-1], 0)
    for number in range(1, plan.rounds + 1):
        first = (number - 1) % len(plan.candidates)
        order = (*plan.candidates[first:], *plan.candidates[:first])
        for workload in plan.workloads:
            for threads in counts_of(workload, plan):
                for candidate in order:
                    yield Turn(candidate, workload, threads, number)


def counts_of(workload: str, plan: Plan) -> tuple[int, ...]:
    """Return the counts of threads that a workload is timed on."""
    return plan.threads[:1] if workload in worker.ON_ONE_THREAD else plan.threads


def remaining(done: Sequence[tuple[Turn, float]], left: Sequence[Turn]) -> float | None:
    """Return the seconds that what is left will take, judged by what the like of it took."""
    if not done:
        return None
    taken: dict[tuple[str, str, int], list[float]] = {}
    for turn, seconds in done:
        taken.setdefault(_like(turn), []).append(seconds)
    of_all = statistics.fmean(seconds for _, seconds in done)
    return sum(statistics.fmean(taken.get(_like(turn), [of_all])) for turn in left)


def _like(turn: Turn) -> tuple[str, str, int]:
    return (turn.candidate.variant.id, turn.workload, turn.threads)


def run(plan: Plan, measure: Measure | None = None) -> tuple[list[Run], bool]:
    """Time everything; return the runs and whether they were kept to processors of their own.

    Each process is a new one, so that a round holds all that differs from start to start: where
    memory lies, which graph was compiled. And nothing of another variant is alive meanwhile: the
    threads of an idle BLAS spin.
    """
    take = measure or (lambda c, w, t: worker.measure(c, w, t, quick=plan.quick))
    every = list(turns(plan))
    done: list[tuple[Turn, float]] = []
    runs: list[Run] = []
    pinned = True
    with board(len(every)) as shown:
        for number, turn in enumerate(every):
            shown.tell(_told(turn, plan), number, remaining(done, every[number:]))
            found, kept = _timed(turn, take)
            done.append((turn, found.seconds))
            pinned = pinned and kept
            if turn.round:
                runs.append(found)
    return runs, pinned


def _timed(turn: Turn, take: Measure) -> tuple[Run, bool]:
    before = noise.read()
    start = time.monotonic()
    with machine.kept_to(machine.processors(turn.threads)) as kept:
        series = take(turn.candidate, turn.workload, turn.threads)
    seconds = time.monotonic() - start
    return Run(
        subject=turn.candidate.variant.id,
        workload=turn.workload,
        threads=turn.threads,
        round=max(turn.round, 1),
        start=max(turn.round, 1),
        seconds=seconds,
        noise=noise.between(before, noise.read(), machine.usable()),
        series=tuple(series),
    ), kept


def _told(turn: Turn, plan: Plan) -> str:
    plural = "" if turn.threads == 1 else "s"
    round_ = f"round {turn.round} of {plan.rounds}" if turn.round else "warming up"
    where = f"{turn.threads} thread{plural}"
    return f"{round_}: {turn.candidate.variant.id}, {turn.workload}, {where}"
