"""Results: one JSON file for each run of the bench, below results/MACHINE, never changed again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from stacks.bench.result import NAME, Machine, Result
from stacks.core.disk import write_whole
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace

SCHEMA: Literal[1] = 1


class BadResultError(UsageError):
    """A file below results/ is not a result."""


@dataclass(frozen=True)
class Found:
    """A result and its file."""

    path: Path
    result: Result


def write(
    workspace: Workspace,
    result: Result,
) -> Path:
    """Write a result into its machine's folder and return the file; nothing is ever replaced."""
    text = result.model_dump_json(by_alias=True) + "\n"
    stamp = result.began.replace(":", "").replace("-", "")
    # Two runs may begin in one second, and a clock may be set back.
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    path = workspace.results / result.machine.name / f"{stamp}-{mark}.json"
    write_whole(path, text)
    return path


def read(path: Path) -> Result:
    """Return the result in a file; BadResultError says what is wrong with it."""
    fix = "take the file away, or `git checkout` it; other results are not touched by it"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadResultError(f"{path}: cannot be read: {error.strerror}", fix=fix) from error
    try:
        return _checked(Result.model_validate_json(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            what, found = f"{path}: not whole: its JSON breaks off or is broken", first["msg"]
        elif first["loc"] == ("schema",):
            what, found = f"{path}: of another schema", str(first["input"])
            fix = f"this program reads schema {SCHEMA}: use the version of it that wrote the file"
        else:
            where = ".".join(map(str, first["loc"]))
            what, found = f"{path}: not a result: {where}", first["msg"]
        raise BadResultError(what, found=found, fix=fix) from error
    except ValueError as error:
        raise BadResultError(f"{path}: not a result", found=str(error), fix=fix) from error


def _checked(result: Result) -> Result:
    known = {subject.id for subject in result.subjects}
    told = {run.subject for run in result.runs} | {one.subject for one in result.missing}
    unknown = told - known
    if unknown:
        raise ValueError(f"runs of {', '.join(sorted(unknown))}, which is not among its subjects")
    return result


def read_all(
    workspace: Workspace,
) -> tuple[list[Found], list[BadResultError]]:
    """Return every result below a folder, oldest first, and why others could not be read."""
    found, bad = [], []
    for path in sorted(workspace.results.glob("*/*.json"), key=lambda p: (p.parent.name, p.name)):
        try:
            found.append(Found(path, read(path)))
        except BadResultError as error:
            bad.append(error)
    return found, bad


def name_for(
    workspace: Workspace,
    machine: Machine,
    wanted: str | None,
) -> str:
    """Return the name under which a machine's results go.

    Another machine may have the name already: a name that was asked for is refused then
    (UsageError), one that was made gets a number.
    """
    if wanted:
        if not re.fullmatch(NAME, wanted):
            raise UsageError(
                f"--machine {wanted}: not the name of a folder of results",
                expected="small letters, digits, dots and hyphens",
            )
        if _taken(workspace, machine, wanted, workspace.results):
            raise UsageError(
                f"results/{wanted} has results of another machine",
                expected=f"the same processor, cores and memory: {_hardware(machine)}",
                fix="choose another --machine NAME",
            )
        return wanted
    return next(
        name
        for name in _numbered(machine.name)
        if not _taken(workspace, machine, name, workspace.results)
    )


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _taken(workspace: Workspace, machine: Machine, name: str, folder: Path) -> bool:
    return any(
        not machine.same_hardware(one.result.machine)
        for one in read_all(workspace)[0]
        if one.path.parent.name == name
    )


def strangers(found: Sequence[Found]) -> list[Found]:
    """Return the results of another machine than the first of their folder, or of its name."""
    first: dict[str, Machine] = {}
    strange = []
    for one in found:
        name = one.path.parent.name
        before = first.setdefault(name, one.result.machine)
        if not before.same_hardware(one.result.machine) or one.result.machine.name != name:
            strange.append(one)
    return strange


def mixed(found: Sequence[Found]) -> list[str]:
    """Say which folders have results of more than one machine."""
    return [
        f"{one.path}: of another machine than the first of its folder: "
        f"{_hardware(one.result.machine)}"
        for one in strangers(found)
    ]


def _hardware(machine: Machine) -> str:
    gigabytes = machine.memory / 2**30
    return f"{machine.cpu} ({machine.model}), {machine.cores} cores, {gigabytes:.0f} GiB"
