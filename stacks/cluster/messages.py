"""Orders to workers and their answers, both sent as JSON; the files that both sides must have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Base64Bytes, ValidationError

from stacks.bench.result import Result
from stacks.bench.schedule import BenchOptions
from stacks.core.console import plural
from stacks.core.disk import sha256_of
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
    """A part of the jobs of `run --jobs`: `at_once` at a time, in a folder."""

    folder: str
    at_once: int
    jobs: tuple[Job, ...]


class Order(Strict):
    """Variants to build and verify on one machine, and to time there if `timing` is set.

    With `share`, the one variant is built, and a user's jobs run in it.

    variants: their names, or the paths of stack.yaml files. commit and files: those of who sends
    it; {path: SHA-256} of the checkout, and by absolute paths of the stack.yaml files and locks.
    """

    commit: str | None
    files: dict[str, str]
    variants: tuple[str, ...]
    full: bool = False
    timing: BenchOptions | None = None
    share: Share | None = None

    @classmethod
    def of(cls, workspace: Workspace, variants: Sequence[Variant], **more: Any) -> Order:
        """Return an order of this checkout; more: the fields with defaults."""
        own = [variant for variant in variants if variant.file]
        locks = [path for each in own for path in lock_folder(workspace, each).glob("*")]
        paths = [*(each.file for each in own if each.file), *locks]
        files = {str(path.absolute()): sha256_of(path) for path in paths if path.is_file()}
        names = tuple(str(each.file.absolute()) if each.file else each.id for each in variants)
        files |= digests(workspace)
        return cls(commit=revision()[0], files=files, variants=names, **more)


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

    worker: its name, added by who receives the answer. refused: the worker's files differ, so it
    refuses all orders of this one. error: why there is no result, or no outcome.
    """

    worker: str = ""
    outcomes: tuple[Outcome, ...] = ()
    result: Result | None = None
    runs: tuple[Run, ...] = ()
    error: RemoteError | None = None
    refused: bool = False

    @classmethod
    def read(cls, text: str) -> Answer:
        """Return the answer that a worker sent as JSON, or one that says why it cannot be read."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as invalid:
            first = str(invalid).splitlines()[0]
            return cls(error=RemoteError(what="its answer cannot be read", found=first))

    @property
    def errors(self) -> list[StacksError]:
        """What failed, with the worker's name; a missing device is no failure."""
        failed = (o.error for o in self.outcomes if o.status != NO_DEVICE)
        return [
            StacksError(f"{self.worker}: {e.what}", expected=e.expected, found=e.found, fix=e.fix)
            for e in (self.error, *failed)
            if e
        ]


def digests(workspace: Workspace) -> dict[str, str]:
    """Return {path: SHA-256} of every deciding file of a checkout, relative to its root."""
    folders = [workspace.root / name for name in DECIDING]
    paths = sorted(path for folder in folders for path in (folder, *folder.rglob("*")))
    names = {path.relative_to(workspace.root): path for path in paths if path.is_file()}
    return {
        str(name): sha256_of(path)
        for name, path in names.items()
        # No cache of Python, which 2.7 writes beside the modules, or of a linter.
        if name.suffix != ".pyc"
        and not any(part.startswith((".", "__pycache__")) for part in name.parts)
    }


def check(order: Order, actual: Mapping[str, str], commit: str | None) -> None:
    """Raise StaleError if the files here are not those of the order.

    actual, commit: those of this checkout. A stack.yaml is read where the order names it.
    """
    paths = [Path(name) for name in order.files if Path(name).is_absolute()]
    here = {**actual, **{str(path): sha256_of(path) for path in paths if path.is_file()}}
    every = sorted(order.files.keys() | here.keys())
    different = [name for name in every if order.files.get(name) != here.get(name)]
    if not different:
        return
    named = ", ".join(different[:NAMED]) + (", ..." if len(different) > NAMED else "")
    if all(Path(name).is_absolute() for name in different):
        raise StaleError(
            "this machine has another stack.yaml, or another lock of it",
            found=named,
            fix="share its folder, or copy it there",
        )
    files = f"{plural(len(different), 'different file')}: {named}"
    raise StaleError(
        "the worker's checkout differs from this one",
        expected=f"commit {order.commit or 'unknown'} without changes",
        found=f"commit {commit or 'unknown'} with {files}",
        fix="commit changes, and check out the same commit on both machines",
    )
