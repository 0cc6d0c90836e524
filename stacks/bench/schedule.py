"""The options of `./invoke bench`, and the order of turns that follows.

Every variant has one turn in each round, and another one is the first each time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import model_validator

from stacks.bench.candidates import Candidate
from stacks.bench.intervals import LEAST_STARTS
from stacks.core.errors import UsageError, unknown
from stacks.core.models import Strict
from verify.workloads.rounds import CALLS, KERNELS, NUMBA, PROGRAMS

# Nine of them bear one outlier: see intervals.py.
ROUNDS, QUICK_ROUNDS = 11, 9
# The frameworks compute these on one thread only.
ON_ONE_THREAD = ("elementwise",)
QUICK_CALLS = 20
# Of programs whose calls take seconds, or less than a millisecond: then a round of fewer is shorter
# than the time that the system gives to another program at once.
FEW_OR_MANY_CALLS = {"check_blas": 10, "mlp": 300}
# A slow library takes 7 s for a product of 5000 x 5000; lstm's calls 50 ms.
QUICK_FEW_OR_MANY_CALLS = {**FEW_OR_MANY_CALLS, "check_blas": 1, "lstm": 10}
# Seconds that a process may take to answer: ntm compiles for ten minutes on a quiet machine.
LIMIT = 3600
# Starts of programs that take minutes to compile; others start in every round.
STARTS = {"ntm": 1}
# Of which one start is enough with --quick, and whose rounds count as starts (measurements/, Two
# starts). The next start compiles to the same, and its first calls take longer than a round.
ALIKE = ("check_blas",)
T = TypeVar("T")


@dataclass(frozen=True)
class Turn:
    """A variant's workload on a number of threads in one round.

    Round 0 gives no samples: its process is started, and a program compiles and is called once.
    """

    candidate: Candidate
    workload: str
    threads: int
    round: int
    start: int


@dataclass(frozen=True)
class Plan:
    """The turns to take.

    threads: the counts to time on, ascending; programs that start slowly are timed on the largest
    alone, unless the options name counts. campaign: of many variants. A program that fails has no
    figure then, as one that does not answer in time, instead of ending the rounds; the first start
    of a program compiles all variants at once, and so the cache of the next ones; with `quick` no
    program is compiled by numba.
    """

    candidates: tuple[Candidate, ...]
    options: BenchOptions
    threads: tuple[int, ...]
    campaign: bool = False

    def turns(self) -> Iterator[Turn]:
        """Yield all turns in order: A B C, then B C A, so that no variant is always the first.

        Turns that are compared, of one workload and one number of threads, follow each other, which
        limits the processes alive to one for each variant.
        """
        rounds = self.options.round_count
        for workload in self.options.workloads:
            starts = self.starts_of(workload)
            for threads in self.counts_of(workload):
                last = 0
                for number in range(1, rounds + 1):
                    start = (number - 1) * starts // rounds + 1
                    if start != last:
                        for candidate in rotated(self.candidates, start):
                            yield Turn(candidate, workload, threads, 0, start)
                    for candidate in rotated(self.candidates, number):
                        yield Turn(candidate, workload, threads, number, start)
                    last = start

    def starts_of(self, workload: str) -> int:
        """Return the starts of a workload's process.

        By default one for each round, fewer if it starts slowly; with --quick one if all are alike.
        """
        rounds = self.options.round_count
        if workload in KERNELS:
            return rounds
        if self.options.quick and workload in ALIKE:
            return 1
        return min(self.options.starts or STARTS.get(workload, rounds), rounds)

    def calls_of(self, workload: str) -> int:
        """Return the number of calls of a program in each round."""
        usual = QUICK_CALLS if self.options.quick else CALLS
        exceptions = QUICK_FEW_OR_MANY_CALLS if self.options.quick else FEW_OR_MANY_CALLS
        return exceptions.get(workload, usual)

    def endings_of(self, turn: Turn) -> tuple[str, ...]:
        """Return the endings of a turn's series: "", and NUMBA where that is the default linker.

        Each is a process. gemm times the product of check_blas, and itself with numba.
        """
        framework = turn.candidate.variant.framework
        is_default = framework.module == "pytensor" and int(framework.version.split(".")[0]) >= 3
        is_one = turn.workload in (*KERNELS, "check_blas")
        without = is_one or (self.campaign and self.options.quick)
        return ("", NUMBA) if is_default and not without else ("",)

    def compiles_together(self, turn: Turn) -> bool:
        """Return whether the programs of all variants compile at once in this start."""
        return self.campaign and turn.start == 1

    def counts_of(self, workload: str) -> tuple[int, ...]:
        """Return the numbers of threads that a workload is timed on."""
        if workload in ON_ONE_THREAD:
            return self.threads[:1]
        slow = workload in STARTS and not self.options.threads
        return self.threads[-1:] if slow else self.threads


def rotated(items: Sequence[T], number: int) -> tuple[T, ...]:
    """Return the items in the order of a round, from 1 on: another one is first each time."""
    first = max(number - 1, 0) % len(items)
    return (*items[first:], *items[:first])


def seconds_left(begun: float, done: int, total: int) -> float:
    """Return how long the rest takes if it goes on as since `begun`; 0 at first.

    begun: by the monotonic clock.
    """
    return (time.monotonic() - begun) / done * (total - done) if done else 0.0


class BenchOptions(Strict):
    """The options as the user gave them; "" and 0 mean the workload's default.

    Making them raises UsageError for what is invalid on every machine.
    workload, threads: lists with commas. starts: of each program. limit: seconds. busy: busy loops
    during each round.
    """

    workload: str = ""
    rounds: int = 0
    threads: str = ""
    quick: bool = False
    starts: int = 0
    limit: int = 0
    busy: int = 0

    @property
    def workloads(self) -> tuple[str, ...]:
        """The workloads to time."""
        return split(self.workload) or KERNELS

    @property
    def seconds_limit(self) -> float:
        """The seconds that a process may take to answer."""
        return self.limit or LIMIT

    @property
    def round_count(self) -> int:
        """The number of rounds."""
        return self.rounds or (QUICK_ROUNDS if self.quick else ROUNDS)

    def thread_counts(self, usable: int, most: int) -> tuple[int, ...]:
        """Return the numbers of threads, ascending; by default 1, 2, 4 ... and `usable`.

        most: what a person may name: a container's limit does not bound it. Raises UsageError
        unless `threads` is a list such as `1,2,4` or `1-4`, within `most`.
        """
        if not self.threads:
            return tuple(sorted({1, *(2**n for n in range(1, 12) if 2**n < usable), usable}))
        numbers: set[int] = set()
        for word in split(self.threads):
            low, dash, high = word.partition("-")
            if not low.isdigit() or (dash and not high.isdigit()):
                raise UsageError(
                    f"--threads {self.threads}: not a list of numbers",
                    expected="for example 1,2,4 or 1-4",
                )
            numbers |= set(range(int(low), int(high or low) + 1))
        if not numbers or min(numbers) < 1 or max(numbers) > most:
            raise UsageError(
                f"--threads {self.threads}: outside the usable processors", expected=f"1 to {most}"
            )
        return tuple(sorted(numbers))

    @model_validator(mode="after")
    def _check(self) -> BenchOptions:
        known = (*KERNELS, *PROGRAMS)
        for name in self.workloads:
            if name not in known:
                raise unknown("workload", name, known)
        if self.round_count < LEAST_STARTS:
            raise UsageError(
                "too few rounds to tell noise from speed",
                expected=f"at least {LEAST_STARTS}",
                found=str(self.round_count),
            )
        if min(self.starts, self.limit, self.busy) < 0:
            raise UsageError("--starts, --limit and --busy are positive numbers")
        return self


def split(text: str) -> tuple[str, ...]:
    """Return the words of a list with commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
