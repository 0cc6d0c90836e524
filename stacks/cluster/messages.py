"""Orders to workers and their answers, both sent as JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Base64Bytes

from stacks.bench.options import BenchOptions
from stacks.bench.result import Result
from stacks.core.errors import StacksError
from stacks.core.models import Strict
from stacks.environments.use.jobs import Job

PASSED, FAILED, NO_DEVICE, NOT_MADE = "passed", "failed", "no device", "not made"


class Share(Strict):
    """A part of the jobs of `run --jobs`: `at_once` at a time, in a folder.

    files: {path: SHA-256} of a stack.yaml and its lock, if the variant is one.
    """

    folder: str
    at_once: int
    jobs: tuple[Job, ...]
    files: dict[str, str]


class Order(Strict):
    """Variants to build and verify on one machine, and to time there if `timing` is set.

    With `share`, the one variant is built, and a user's jobs run in it.

    commit and files: those of the checkout that sends it; {path: SHA-256}.
    """

    commit: str | None
    files: dict[str, str]
    machine: str
    variants: tuple[str, ...]
    full: bool = False
    timing: BenchOptions | None = None
    share: Share | None = None


class RemoteError(Strict):
    """A StacksError in a message."""

    what: str
    expected: str | None = None
    found: str | None = None
    fix: str | None = None

    @classmethod
    def of(cls, error: StacksError) -> RemoteError:
        """Return the message for an error."""
        expected, found = (None if x is None else str(x) for x in (error.expected, error.found))
        return cls(what=error.what, expected=expected, found=found, fix=error.fix)

    def to_error(self, worker: str) -> StacksError:
        """Return it as an error again, with the worker's name."""
        return StacksError(
            f"{worker}: {self.what}", expected=self.expected, found=self.found, fix=self.fix
        )


class Outcome(Strict):
    """The outcome of building and verifying a variant; the verification's report if it ran."""

    variant: str
    status: Literal["passed", "failed", "no device", "not made"]
    error: RemoteError | None = None
    report: dict[str, Any] | None = None


class Run(Strict):
    """How a job of a share ended, by its number; `log` is its output."""

    job: int
    status: int
    seconds: float
    log: Base64Bytes


class Answer(Strict):
    """What a worker did of an order.

    refused: the worker's checkout differs, so it refuses all orders of this one. error: why there
    is no result, or no outcome.
    """

    outcomes: tuple[Outcome, ...] = ()
    result: Result | None = None
    runs: tuple[Run, ...] = ()
    error: RemoteError | None = None
    refused: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing in it failed."""
        return not self.error and all(o.status in (PASSED, NO_DEVICE) for o in self.outcomes)
