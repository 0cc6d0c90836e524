"""Stored results: a JSON file in results/MACHINE for each run of the bench, never replaced.

One that is published may be packed: its figures with five digits, compressed with xz, its name
ending in .json.xz.
"""

import hashlib
import json
import lzma
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError

from stacks.bench.result import NAME, Machine, Result
from stacks.core.disk import write_atomically
from stacks.core.errors import UsageError
from stacks.core.models import IN_WORDS
from stacks.core.workspace import Workspace

SCHEMA: Literal[1] = 1
# The folder of results/ with reports of devices, which stacks/timings/beside.py reads.
DEVICES = "devices"
# The ending of a packed result.
PACKED = ".xz"
# Of a packed figure: samples of one run differ in the third.
DIGITS = 5
# Far above a result of every variant with all sizes.
MAX_MEBIBYTES = 32
# Keys that reports have and results do not.
REPORTS = {"checks", "cases"}
FIX = "remove the file, or `git checkout` it; it does not affect other results"
T = TypeVar("T")


class BadResultError(UsageError):
    """A file in results/ is not a result."""


@dataclass(frozen=True)
class StoredResult:
    """A result and its file."""

    path: Path
    result: Result


def write(workspace: Workspace, result: Result) -> Path:
    """Write a result to a new file in its machine's folder and return the file."""
    text = result.model_dump_json(by_alias=True) + "\n"
    stamp = result.began.replace(":", "").replace("-", "")
    # Two runs may begin in one second, and a clock may be set back.
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    path = workspace.results / result.machine.name / f"{stamp}-{digest}.json"
    write_atomically(path, text)
    return path


def pack(stored: StoredResult) -> Path:
    """Replace the file of a result by a packed one, and return that; a packed one stays."""
    path = stored.path
    if path.suffix == PACKED:
        return path
    # Floats alone are written with a point or an exponent.
    content = json.loads(
        stored.result.model_dump_json(by_alias=True),
        parse_float=lambda text: float(f"{float(text):.{DIGITS}g}"),
    )
    text = json.dumps(content, separators=(",", ":")) + "\n"
    packed = path.with_name(path.name + PACKED)
    write_atomically(packed, lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    path.unlink()
    return packed


def read(path: Path) -> Result:
    """Return the result in a file; BadResultError if it has none."""
    try:
        if path.exists() and not path.is_file():
            raise BadResultError(f"{path}: not a file", fix=FIX)
        with lzma.open(path) if path.suffix == PACKED else path.open("rb") as file:
            data = file.read((MAX_MEBIBYTES << 20) + 1)
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadResultError(f"{path}: not UTF-8", found=str(error), fix=FIX) from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadResultError(f"{path}: cannot be read: {reason}", fix=FIX) from error
    if len(data) > MAX_MEBIBYTES << 20:
        raise BadResultError(
            f"{path}: too large for a result", expected=f"at most {MAX_MEBIBYTES} MiB", fix=FIX
        )
    try:
        result = Result.model_validate_json(text)
    except ValidationError as error:
        raise _invalid(path, error) from error
    known = {subject.id for subject in result.subjects}
    named = {run.subject for run in result.runs} | {one.subject for one in result.missing}
    if unknown := named - known:
        raise BadResultError(
            f"{path}: not a result",
            found=f"runs of {', '.join(sorted(unknown))}, which is not among its subjects",
            fix=FIX,
        )
    return result


def _invalid(path: Path, error: ValidationError) -> BadResultError:
    """Return the error for a file whose content is no result."""
    first, fix = error.errors(include_url=False)[0], FIX
    if first["type"] == "json_invalid":
        what, found = f"{path}: its JSON is cut off or broken", first["msg"]
    elif REPORTS & {each["loc"][0] for each in error.errors() if each["loc"]}:
        what, found = f"{path}: not a result", "a report of verify or profile"
        fix = "take what ./invoke bench stores"
    elif first["loc"] == ("schema",):
        what, found = f"{path}: another schema", str(first["input"])
        fix = f"this version reads schema {SCHEMA}: use the version that wrote the file"
    else:
        pattern = first.get("ctx", {}).get("pattern")
        what = f"{path}: not a result: {'.'.join(map(str, first['loc']))}"
        found = f"not {IN_WORDS[pattern]}" if pattern in IN_WORDS else first["msg"]
    return BadResultError(what, found=found, fix=fix)


def read_all(workspace: Workspace) -> tuple[list[StoredResult], list[BadResultError]]:
    """Return all results, by machine and time, and the errors of files that are none.

    Nor is one of another machine than the first of its folder.
    """
    first: dict[str, Machine] = {}

    def read_in_place(path: Path) -> StoredResult:
        result, folder = read(path), path.parent.name
        machine = result.machine
        if not first.setdefault(folder, machine).same_hardware(machine) or machine.name != folder:
            raise BadResultError(
                f"{path}: another machine than the first of its folder: {_hardware(machine)}",
                fix="move the file out of results/, then ./invoke publish --add FILE",
            )
        return StoredResult(path, result)

    every = files(workspace, "*/*.json", f"*/*.json{PACKED}")
    return read_each([path for path in every if path.parent.name != DEVICES], read_in_place)


def files(workspace: Workspace, *patterns: str) -> list[Path]:
    """Return the files with one of these patterns below results/, by folder and name."""
    # In a checkout both are one folder.
    folders = {workspace.root / "results", workspace.results}
    paths = [path for folder in folders for each in patterns for path in folder.glob(each)]
    return sorted(paths, key=lambda path: (path.parent.name, path.name))


def read_each(
    paths: Iterable[Path], read_file: Callable[[Path], T]
) -> tuple[list[T], list[BadResultError]]:
    """Return what the files of results/ contain, and the errors of those that cannot be read.

    A symbolic link is one of these: it may lead out of results/, or to a file that counts already.
    """
    found, errors = [], []
    for path in paths:
        try:
            if link := next((one for one in (path, path.parent) if one.is_symlink()), None):
                raise BadResultError(
                    f"{path}: {link.name} is a symbolic link",
                    fix="replace it by what it points to; ./invoke publish --add FILE takes a "
                    "result from anywhere",
                )
            found.append(read_file(path))
        except BadResultError as error:
            errors.append(error)
    return found, errors


def named(workspace: Workspace, machine: Machine, requested: str = "") -> Machine:
    """Return a machine with the name of the folder for its results.

    If another machine has the name: UsageError for a requested name, else a number is added.
    """
    taken = {
        one.path.parent.name
        for one in read_all(workspace)[0]
        if not machine.same_hardware(one.result.machine)
    }
    if not requested:
        names = (f"{machine.name}-{number}" if number > 1 else machine.name for number in count(1))
        requested = next(name for name in names if name not in taken)
    elif requested == DEVICES or not re.fullmatch(NAME, requested):
        raise UsageError(
            f"--machine {requested}: not the name of a folder of results",
            expected="small letters, digits, dots and hyphens",
        )
    elif requested in taken:
        raise UsageError(
            f"results/{requested} has results of another machine",
            expected=f"the same processor, cores and memory: {_hardware(machine)}",
            fix="choose another --machine NAME",
        )
    return machine.model_copy(update={"name": requested})


def _hardware(machine: Machine) -> str:
    gigabytes = machine.memory / 2**30
    return f"{machine.cpu} ({machine.model}), {machine.cores} cores, {gigabytes:.0f} GiB"
