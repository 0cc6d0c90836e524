"""What goes to a worker and what comes back, both as JSON."""

from __future__ import annotations

from typing import Any, Literal

from stacks.bench.options import BenchOptions
from stacks.bench.result import Result
from stacks.core.errors import StacksError
from stacks.core.models import Strict

PASSED, FAILED, NO_DEVICE, NOT_MADE = "passed", "failed", "no device", "not made"


class Order(Strict):
    """Variants to be built and verified on one machine, and to be timed there, if `timing`."""

    commit: str | None
    files: dict[str, str]
    machine: str
    variants: tuple[str, ...]
    full: bool = False
    timing: BenchOptions | None = None


class RemoteError(Strict):
    """A StacksError on its way."""

    what: str
    expected: str | None = None
    found: str | None = None
    fix: str | None = None

    @classmethod
    def of(cls, error: StacksError) -> RemoteError:
        """Return an error as it travels."""
        expected, found = (None if x is None else str(x) for x in (error.expected, error.found))
        return cls(what=error.what, expected=expected, found=found, fix=error.fix)

    def error(self, where: str) -> StacksError:
        """Return it as an error again; `where` names the machine."""
        return StacksError(
            f"{where}: {self.what}", expected=self.expected, found=self.found, fix=self.fix
        )


class Outcome(Strict):
    """How building and verifying a variant went; the suite's own report, where there is one."""

    variant: str
    status: Literal["passed", "failed", "no device", "not made"]
    error: RemoteError | None = None
    report: dict[str, Any] | None = None


class Answer(Strict):
    """What a worker did of an order.

    `refused`: it may do no order of this checkout. `error` is why there is no result, or no
    outcome.
    """

    outcomes: tuple[Outcome, ...] = ()
    result: Result | None = None
    error: RemoteError | None = None
    refused: bool = False

    @property
    def whole(self) -> bool:
        """Whether nothing of it failed."""
        return not self.error and all(o.status in (PASSED, NO_DEVICE) for o in self.outcomes)
