"""The order of turns: every variant once in each round, another one first each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stacks.bench import probe
from stacks.bench.candidates import Candidate

# Factor on the time of a program's last turn, which includes its profile.
PROFILED = 1.2


@dataclass(frozen=True)
class Turn:
    """A variant's workload on a number of threads in one round.

    workload: a program, or the bench's own workloads that one process times, with commas. Round 0
    gives no samples: own workloads warm up; a program is started, compiles and is called once.
    `last`: the last round of a program's start.
    """

    candidate: Candidate
    workload: str
    threads: int
    round: int
    start: int
    last: bool = False

    @property
    def is_own(self) -> bool:
        """Whether a process of its own times the bench's own workloads."""
        return self.workload.split(",")[0] in probe.OWN

    @property
    def starts(self) -> bool:
        """Whether it starts a program."""
        return self.round == 0 and not self.is_own


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The turns to take; 0 means the workload's default.

    starts: of each program. calls: of a program in a round. limit: seconds that a process may take
    to answer. every_count: time programs that start slowly on all of `threads`, not on the largest
    only. together: compile all variants' programs at once. fix_scan: import theano_stacks_scan in
    the programs first. busy: busy loops beside each round. keep_going: a program that fails has no
    figure, as one that does not answer in time; else its error ends the rounds. together_first: as
    together, but at the first of several starts only, which compiles what the next ones find.
    with_numba: time programs with numba too, where it is PyTensor's default.
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
    busy: int = 0
    keep_going: bool = False
    together_first: bool = False
    with_numba: bool = True


def turns(plan: Plan) -> Iterator[Turn]:
    """Yield all turns in order: A B C, then B C A, so that no variant is always the first.

    Turns that are compared, of one workload and one number of threads, follow each other. So do
    all rounds of a program, which limits the processes alive to one for each variant.
    """
    own = _own_workloads(plan)
    for workload, counts in own.items():
        for candidate in plan.candidates:
            yield Turn(candidate, workload, counts[-1], 0, 1)
    for number in range(1, plan.rounds + 1):
        for workload, counts in own.items():
            for threads in counts:
                for candidate in _order(plan, number):
                    yield Turn(candidate, workload, threads, number, number)
    for workload in plan.workloads:
        if workload not in probe.OWN:
            for threads in counts_of(workload, plan):
                yield from _of_program(plan, workload, threads)


def _own_workloads(plan: Plan) -> dict[str, tuple[int, ...]]:
    """Return the bench's own workloads with their counts of threads.

    Those of the same counts share a process, which imports the framework once.
    """
    groups: dict[tuple[int, ...], list[str]] = {}
    for workload in plan.workloads:
        if workload in probe.OWN:
            groups.setdefault(counts_of(workload, plan), []).append(workload)
    return {",".join(workloads): counts for counts, workloads in groups.items()}


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
    """Return the starts of a program.

    By default one for each round, fewer if it starts slowly; with --quick one if all are alike.
    """
    if plan.quick and workload in probe.ALIKE:
        return 1
    usual = probe.STARTS.get(workload, plan.rounds)
    return min(plan.starts or usual, plan.rounds)


def compiles_together(turn: Turn, plan: Plan) -> bool:
    """Return whether the programs of all variants compile at once in this start."""
    is_first = turn.start == 1 < starts_of(turn.workload, plan)
    return plan.together or (plan.together_first and is_first)


def counts_of(workload: str, plan: Plan) -> tuple[int, ...]:
    """Return the numbers of threads that a workload is timed on."""
    if workload in probe.ON_ONE_THREAD:
        return plan.threads[:1]
    slow = workload in probe.STARTS and not plan.every_count
    return plan.threads[-1:] if slow else plan.threads


def remaining(done: Sequence[tuple[Turn, float]], left: Sequence[Turn]) -> float | None:
    """Return the seconds that the remaining turns will take, estimated from the last similar ones.

    done: turns with their seconds. None if a turn has no similar one yet.
    """
    own: dict[object, float] = {}
    kind: dict[object, float] = {}
    for turn, seconds in done:
        kind[_kind(turn)] = own[_own(turn)] = seconds
    total = 0.0
    for turn in left:
        known = own.get(_own(turn), kind.get(_kind(turn)))
        if known is None and turn.is_own:
            known = done[-1][1] if done else None
        if known is None:
            return None
        total += known * (PROFILED if turn.last else 1)
    return total


def _kind(turn: Turn) -> tuple[str, int, bool]:
    return (turn.workload, turn.threads, turn.starts)


def _own(turn: Turn) -> tuple[str, str, int, bool]:
    return (turn.candidate.variant.id, *_kind(turn))
