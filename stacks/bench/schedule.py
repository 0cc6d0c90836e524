"""Whose turn it is: every variant once in each round, in an order that turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stacks.bench import probe
from stacks.bench.candidates import Candidate

# How long a program's last turn takes beside the others: its profile follows.
PROFILED = 1.2


@dataclass(frozen=True)
class Turn:
    """What is to be done next: with which variant, what, on how many threads, in which round.

    In round 0 one of the bench's own workloads warms up, a program is started, compiles, and is
    called once; nothing of that is a sample. `last` is the last round of a program's start.
    """

    candidate: Candidate
    workload: str
    threads: int
    round: int
    start: int
    last: bool = False

    @property
    def starts(self) -> bool:
        """Whether a program is started in it."""
        return self.round == 0 and self.workload not in probe.OWN


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be timed; 0 and False leave it to the workload.

    `starts` is how often a program is started, `calls` how often it is called in a round, `limit`
    in how many seconds a process is to answer; `every_count` has the programs that are slow to
    start timed on all of `threads`; `together` has all variants' programs compile at once, and
    `fix_scan` has them import theano_stacks_scan first.
    """

    candidates: tuple[Candidate, ...]
    workloads: tuple[str, ...]
    threads: tuple[int, ...]
    rounds: int
    quick: bool
    starts: int = 0
    calls: int = 0
    limit: float = probe.LIMIT
    every_count: bool = False
    together: bool = False
    fix_scan: bool = False


def turns(plan: Plan) -> Iterator[Turn]:
    """Yield every turn in order: A B C, then B C A, so that no variant is always the first.

    What is compared stands next to each other: of one workload and one count of threads. All the
    rounds of a program follow one another, so that no more of its processes are alive than there
    are variants.
    """
    own = [workload for workload in plan.workloads if workload in probe.OWN]
    for workload in own:
        for candidate in plan.candidates:
            yield Turn(candidate, workload, counts_of(workload, plan)[-1], 0, 1)
    for number in range(1, plan.rounds + 1):
        for workload in own:
            for threads in counts_of(workload, plan):
                for candidate in _order(plan, number):
                    yield Turn(candidate, workload, threads, number, number)
    for workload in plan.workloads:
        if workload not in own:
            for threads in counts_of(workload, plan):
                yield from _of_program(plan, workload, threads)


def _of_program(plan: Plan, workload: str, threads: int) -> Iterator[Turn]:
    by_start: dict[int, list[int]] = {}
    starts = starts_of(workload, plan)
    for number in range(1, plan.rounds + 1):
        by_start.setdefault((number - 1) * starts // plan.rounds + 1, []).append(number)
    for start, numbers in by_start.items():
        for candidate in _order(plan, start):
            yield Turn(candidate, workload, threads, 0, start)
        for number in numbers:
            for candidate in _order(plan, number):
                yield Turn(candidate, workload, threads, number, start, number == numbers[-1])


def _order(plan: Plan, number: int) -> tuple[Candidate, ...]:
    first = (number - 1) % len(plan.candidates)
    return (*plan.candidates[first:], *plan.candidates[:first])


def starts_of(workload: str, plan: Plan) -> int:
    """Return how often a program is started: as asked, else for each round where that is quick."""
    usual = probe.STARTS.get(workload, plan.rounds)
    return min(plan.starts or usual, plan.rounds)


def counts_of(workload: str, plan: Plan) -> tuple[int, ...]:
    """Return the counts of threads that a workload is timed on."""
    if workload in probe.ON_ONE_THREAD:
        return plan.threads[:1]
    slow = workload in probe.STARTS and not plan.every_count
    return plan.threads[-1:] if slow else plan.threads


def remaining(done: Sequence[tuple[Turn, float]], left: Sequence[Turn]) -> float | None:
    """Return the seconds that what is left will take, judged by what the like of it took last.

    None while nothing is known that is like enough.
    """
    own: dict[object, float] = {}
    kind: dict[object, float] = {}
    for turn, seconds in done:
        kind[_kind(turn)] = own[_own(turn)] = seconds
    total = 0.0
    for turn in left:
        known = own.get(_own(turn), kind.get(_kind(turn)))
        if known is None and turn.workload in probe.OWN:
            known = done[-1][1] if done else None
        if known is None:
            return None
        total += known * (PROFILED if turn.last else 1)
    return total


def _kind(turn: Turn) -> tuple[str, int, bool]:
    return (turn.workload, turn.threads, turn.starts)


def _own(turn: Turn) -> tuple[str, str, int, bool]:
    return (turn.candidate.variant.id, *_kind(turn))
