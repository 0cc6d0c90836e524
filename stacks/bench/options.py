"""What a person asks of the bench."""

from __future__ import annotations

from stacks.bench import probe
from stacks.bench.intervals import LEAST_ROUNDS
from stacks.core.errors import UsageError
from stacks.core.models import Strict

ROUNDS = 11
QUICK_ROUNDS = 7


class BenchOptions(Strict):
    """The options of `./invoke bench` in their own words; "" and 0 leave one to the bench."""

    workload: str = ""
    rounds: int = 0
    threads: str = ""
    quick: bool = False
    starts: int = 0
    calls: int = 0
    limit: int = 0
    together: bool = False
    fix_scan: bool = False

    @property
    def workloads(self) -> tuple[str, ...]:
        """What is timed."""
        return split(self.workload) or probe.OWN

    @property
    def number(self) -> int:
        """How many rounds there are."""
        return self.rounds or (QUICK_ROUNDS if self.quick else ROUNDS)

    def check(self) -> None:
        """Raise UsageError for what no machine can do."""
        probe.check_names(self.workloads)
        if self.number < LEAST_ROUNDS:
            raise UsageError(
                "too few rounds to tell noise from speed",
                expected=f"at least {LEAST_ROUNDS}",
                found=str(self.number),
            )
        if min(self.starts, self.calls, self.limit) < 0:
            raise UsageError("--starts, --calls and --limit are positive numbers")


def split(text: str) -> tuple[str, ...]:
    """Return the words of a list with commas."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
