"""The options of `./invoke bench`."""

from __future__ import annotations

from stacks.bench.intervals import LEAST_STARTS
from stacks.core.errors import UsageError, unknown
from stacks.core.models import Strict
from verify.workloads.rounds import KERNELS, LIMIT, PROGRAMS, QUICK_ROUNDS, ROUNDS


class BenchOptions(Strict):
    """The options as the user gave them; "" and 0 mean the workload's default.

    workload, threads: lists with commas. starts: of each program. calls: of a program in a round.
    limit: seconds. fix_scan: import theano_stacks_scan in the programs first. busy: busy loops
    during each round.
    """

    workload: str = ""
    rounds: int = 0
    threads: str = ""
    quick: bool = False
    starts: int = 0
    calls: int = 0
    limit: int = 0
    fix_scan: bool = False
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

    def thread_counts(self, most: int) -> tuple[int, ...]:
        """Return the numbers of threads, ascending; by default 1, 2, 4 ... and `most`.

        Raises UsageError unless `threads` is a list such as `1,2,4` or `1-4`, within `most`.
        """
        if not self.threads:
            return tuple(sorted({1, *(2**n for n in range(1, 12) if 2**n < most), most}))
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

    def check(self) -> None:
        """Raise UsageError for options that are invalid on every machine."""
        known = (*KERNELS, *PROGRAMS)
        for name in self.workloads:
            if name not in known:
                raise unknown("workload", name, known)
        require_rounds(self.round_count)
        if min(self.starts, self.calls, self.limit, self.busy) < 0:
            raise UsageError("--starts, --calls, --limit and --busy are positive numbers")


def require_rounds(count: int) -> None:
    """Raise UsageError for too few rounds."""
    if count < LEAST_STARTS:
        raise UsageError(
            "too few rounds to tell noise from speed",
            expected=f"at least {LEAST_STARTS}",
            found=str(count),
        )


def split(text: str) -> tuple[str, ...]:
    """Return the words of a list with commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
