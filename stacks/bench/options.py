"""The options of `./invoke bench`."""

from __future__ import annotations

from stacks.bench import probe
from stacks.bench.intervals import LEAST_STARTS
from stacks.core.errors import UsageError
from stacks.core.models import Strict
from verify.workloads.rounds import LIMIT

ROUNDS = 11
# As many as bear one outlier: see intervals.py.
QUICK_ROUNDS = 9


class BenchOptions(Strict):
    """The options as the user gave them; "" and 0 mean the workload's default.

    workload, threads: lists with commas. starts: of each program. calls: of a program in a round.
    limit: seconds. together: compile all variants' programs at once. fix_scan: import
    theano_stacks_scan in the programs first. busy: busy loops beside each round.
    """

    workload: str = ""
    rounds: int = 0
    threads: str = ""
    quick: bool = False
    starts: int = 0
    calls: int = 0
    limit: int = 0
    together: bool = False
    fix_scan: bool = False
    busy: int = 0

    @property
    def workloads(self) -> tuple[str, ...]:
        """The workloads to time."""
        return split(self.workload) or probe.KERNELS

    @property
    def seconds_limit(self) -> float:
        """The seconds that a process may take to answer."""
        return self.limit or LIMIT

    @property
    def round_count(self) -> int:
        """The number of rounds."""
        return self.rounds or (QUICK_ROUNDS if self.quick else ROUNDS)

    def check(self) -> None:
        """Raise UsageError for options that are invalid on every machine."""
        probe.check_names(self.workloads)
        if self.round_count < LEAST_STARTS:
            raise UsageError(
                "too few rounds to tell noise from speed",
                expected=f"at least {LEAST_STARTS}",
                found=str(self.round_count),
            )
        if min(self.starts, self.calls, self.limit, self.busy) < 0:
            raise UsageError("--starts, --calls, --limit and --busy are positive numbers")


def split(text: str) -> tuple[str, ...]:
    """Return the words of a list with commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
