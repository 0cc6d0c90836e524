"""Orders to workers and their answers, both sent as JSON; the files that both sides must have.

The answers of an interrupted invocation are stored: the same command does not repeat their jobs.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Base64Bytes, ValidationError

from stacks.bench.result import Result, slug
from stacks.bench.schedule import BenchOptions
from stacks.core.console import plural
from stacks.core.disk import sha256_of, write_atomically
from stacks.core.errors import StacksError, StaleError
from stacks.core.models import Strict
from stacks.core.workspace import Workspace, revision
from stacks.environments.use.jobs import Job
from stacks.locks.lock import lock_folder
from stacks.variants.variant import Variant

# Locks, recipes, the builder, the verification, and the libraries that the builder uses.
DECIDING = ("envs", "recipes", "stacks", "verify", "requirements.lock", "requirements-cluster.lock")
# How many files an error names.
NAMED = 3
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

    @classmethod
    def of(cls, workspace: Workspace, variants: Sequence[str], **more: Any) -> Order:
        """Return an order of this checkout, for any machine; more: the fields with defaults."""
        commit, files = revision()[0], digests(workspace)
        return cls(commit=commit, files=files, machine="", variants=tuple(variants), **more)


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

    worker: its name, added by who receives the answer. refused: the worker's checkout differs, so
    it refuses all orders of this one. error: why there is no result, or no outcome.
    """

    worker: str = ""
    outcomes: tuple[Outcome, ...] = ()
    result: Result | None = None
    runs: tuple[Run, ...] = ()
    error: RemoteError | None = None
    refused: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing in it failed."""
        return not self.error and all(o.status in (PASSED, NO_DEVICE) for o in self.outcomes)

    @property
    def errors(self) -> list[StacksError]:
        """What failed, with the worker's name; a missing device is no failure."""
        failed = (o.error for o in self.outcomes if o.status != NO_DEVICE)
        return [error.to_error(self.worker) for error in (self.error, *failed) if error]


def digests(workspace: Workspace) -> dict[str, str]:
    """Return {path: SHA-256} of every deciding file of a checkout, relative to its root."""
    folders = [workspace.root / name for name in DECIDING]
    paths = sorted(path for folder in folders for path in (folder, *folder.rglob("*")))
    names = {path.relative_to(workspace.root): path for path in paths if path.is_file()}
    return {
        str(name): sha256_of(path)
        for name, path in names.items()
        # No cache of Python or of a linter.
        if not any(part == "__pycache__" or part.startswith(".") for part in name.parts)
    }


def digests_of_stack(workspace: Workspace, variant: Variant) -> dict[str, str]:
    """Return {path: SHA-256} of a stack.yaml and its lock; of another variant nothing."""
    if not variant.file:
        return {}
    locks = sorted(lock_folder(workspace, variant).glob("*"))
    paths = [variant.file, *(path for path in locks if path.is_file())]
    return {str(path.absolute()): sha256_of(path) for path in paths}


def check_stack(expected: Mapping[str, str]) -> None:
    """Raise StaleError if a stack.yaml of the order, or its lock, is not the same here."""
    paths = {name: Path(name) for name in expected}
    different = sorted(
        name
        for name, path in paths.items()
        if not path.is_file() or sha256_of(path) != expected[name]
    )
    if different:
        raise StaleError(
            "this machine has another stack.yaml, or another lock of it",
            found=", ".join(different[:NAMED]),
            fix="share its folder, or copy it there",
        )


def check(
    expected: Mapping[str, str],
    expected_commit: str | None,
    actual: Mapping[str, str],
    actual_commit: str | None,
) -> None:
    """Raise StaleError if the files of this checkout are not those of the order."""
    names = sorted(expected.keys() | actual.keys())
    different = [name for name in names if expected.get(name) != actual.get(name)]
    if not different:
        return
    files = f"{plural(len(different), 'different file')}: {', '.join(different[:NAMED])}"
    files += ", ..." if len(different) > NAMED else ""
    if expected_commit == actual_commit:
        found = f"the same commit with {files}"
        fix = "commit the changes, and check out that commit on both machines"
    else:
        found = f"commit {actual_commit or 'unknown'} with {files}"
        fix = (
            f"on that machine: git checkout {expected_commit}"
            if expected_commit
            else "copy this checkout to that machine"
        )
    raise StaleError(
        "the worker's checkout differs from this one",
        expected=f"commit {expected_commit or 'unknown'} without changes",
        found=found,
        fix=fix,
    )


@dataclass(frozen=True)
class ClusterSession:
    """A folder with a file for each answer."""

    folder: Path

    def load(self, job: str) -> Answer | None:
        """Return the answer to a job, None if there is none that can be read."""
        try:
            return Answer.model_validate_json(self._file(job).read_bytes())
        except (OSError, ValidationError):
            return None

    def save(self, job: str, answer: Answer) -> None:
        """Store an answer."""
        write_atomically(self._file(job), answer.model_dump_json(by_alias=True))

    def remove(self) -> None:
        """Remove all answers: the next invocation starts from the beginning."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, job: str) -> Path:
        return self.folder / f"{slug(job)}-{hashlib.sha256(job.encode()).hexdigest()[:8]}.json"


def open_session(workspace: Workspace, order: Order) -> ClusterSession:
    """Return the session of an order, which covers all machines."""
    content = json.dumps(order.model_dump(mode="json"), sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return ClusterSession(workspace.cluster / f"session-{digest[:16]}")
