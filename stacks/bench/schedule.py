"""The order of turns: every variant once in each round, another one first each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stacks.bench.candidates import Candidate
from stacks.bench.options import BenchOptions
from stacks.bench.probe import KERNELS
from verify.workloads.rounds import ON_ONE_THREAD

# Starts of programs that take minutes to compile; others start in every round.
STARTS = {"ntm": 1}
# Of which one start is enough with --quick, and whose rounds count as starts (measurements/, Two
# starts). The next start compiles to the same, and its first calls take longer than a round.
ALIKE = ("check_blas",)
T = TypeVar("T")


@dataclass(frozen=True)
class Turn:
    """A variant's workload on a number of threads in one round.

    workload: a program, or kernels that one process times, with commas. Round 0 gives no samples:
    kernels warm up; a program is started, compiles and is called once. `last`: the last round of a
    program's start.
    """

    candidate: Candidate
    workload: str
    threads: int
    round: int
    start: int
    last: bool = False

    @property
    def is_of_kernels(self) -> bool:
        """Whether a process for this turn alone times kernels."""
        return self.workload.split(",")[0] in KERNELS

    @property
    def starts(self) -> bool:
        """Whether it starts a program."""
        return self.round == 0 and not self.is_of_kernels


@dataclass(frozen=True)
class Plan:
    """The turns to take.

    threads: the counts to time on, ascending; programs that start slowly are timed on the largest
    alone, unless the options name counts. campaign: of many variants. A program that fails has no
    figure then, as one that does not answer in time, instead of ending the rounds; the first of
    several starts compiles all at once, and so what the next ones find; with `quick` no program is
    compiled by numba.
    """

    candidates: tuple[Candidate, ...]
    options: BenchOptions
    threads: tuple[int, ...]
    campaign: bool = False

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self.options.round_count


def turns(plan: Plan) -> Iterator[Turn]:
    """Yield all turns in order: A B C, then B C A, so that no variant is always the first.

    Turns that are compared, of one workload and one number of threads, follow each other. So do
    all rounds of a program, which limits the processes alive to one for each variant.
    """
    kernels: dict[tuple[int, ...], list[str]] = {}
    for workload in plan.options.workloads:
        if workload in KERNELS:
            # Those on the same counts of threads share a process, which imports the framework once.
            kernels.setdefault(counts_of(workload, plan), []).append(workload)
    for number in range(plan.rounds + 1):
        for counts, workloads in kernels.items():
            for threads in counts if number else counts[-1:]:
                for candidate in rotated(plan.candidates, number):
                    yield Turn(candidate, ",".join(workloads), threads, number, max(number, 1))
    for workload in plan.options.workloads:
        if workload not in KERNELS:
            for threads in counts_of(workload, plan):
                yield from _of_program(plan, workload, threads)


def _of_program(plan: Plan, workload: str, threads: int) -> Iterator[Turn]:
    starts = starts_of(workload, plan)
    start_of = {n: (n - 1) * starts // plan.rounds + 1 for n in range(1, plan.rounds + 1)}
    for number, start in start_of.items():
        if start != start_of.get(number - 1):
            for candidate in rotated(plan.candidates, start):
                yield Turn(candidate, workload, threads, 0, start)
        last = start != start_of.get(number + 1)
        for candidate in rotated(plan.candidates, number):
            yield Turn(candidate, workload, threads, number, start, last)


def rotated(items: Sequence[T], number: int) -> tuple[T, ...]:
    """Return the items in the order of a round, from 1 on: another one is first each time."""
    first = max(number - 1, 0) % len(items)
    return (*items[first:], *items[:first])


def starts_of(workload: str, plan: Plan) -> int:
    """Return the starts of a program.

    By default one for each round, fewer if it starts slowly; with --quick one if all are alike.
    """
    if plan.options.quick and workload in ALIKE:
        return 1
    usual = STARTS.get(workload, plan.rounds)
    return min(plan.options.starts or usual, plan.rounds)


def compiles_together(turn: Turn, plan: Plan) -> bool:
    """Return whether the programs of all variants compile at once in this start."""
    is_first = turn.start == 1 < starts_of(turn.workload, plan)
    return plan.options.together or (plan.campaign and is_first)


def counts_of(workload: str, plan: Plan) -> tuple[int, ...]:
    """Return the numbers of threads that a workload is timed on."""
    if workload in ON_ONE_THREAD:
        return plan.threads[:1]
    slow = workload in STARTS and not plan.options.threads
    return plan.threads[-1:] if slow else plan.threads


def remaining(done: Sequence[tuple[Turn, float]], left: Sequence[Turn]) -> tuple[float, bool]:
    """Return the seconds that turns will take, and whether that is of all of them.

    done: turns with their seconds, by which those like them are estimated: of the same variant, or
    else of another one. A turn of a kind without an example counts as none.
    """
    known: dict[object, float] = {}
    for turn, seconds in done:
        kind = (turn.workload, turn.threads, turn.starts)
        known[kind] = known[turn.candidate.variant.id, kind] = seconds
    total, is_whole = 0.0, True
    for turn in left:
        kind = (turn.workload, turn.threads, turn.starts)
        seconds = known.get((turn.candidate.variant.id, kind), known.get(kind, -1.0))
        total, is_whole = total + max(seconds, 0.0), is_whole and seconds >= 0
    return total, is_whole
