"""Results: one JSON file for each run of the bench, below results/MACHINE, never changed again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationError

from stacks.bench.profile import Profile
from stacks.bench.record import LEAST, MOST, Record
from stacks.disk import REPOSITORY, write_whole
from stacks.errors import UsageError

RESULTS = REPOSITORY / "results"
SCHEMA: Literal[1] = 1
# Ends the name of a measure that PyTensor's own linker compiled.
NUMBA = ", numba"
Unit = Literal["GFLOP/s", "s", "ns"]
Sha256 = Field(pattern=r"^[0-9a-f]{64}$")
NAME = r"^[a-z0-9][a-z0-9.-]*$"
# Of one machine at two times the kernel leaves a little more or less of the memory.
SAME_MEMORY = 0.1


class Peak(Record):
    """The measured peak of fused multiply-adds."""

    dtype: Literal["float32", "float64"]
    threads: int = Field(ge=1)
    gflops: float = Field(ge=0, le=MOST)


class Machine(Record):
    """The machine that the figures belong to, and nothing that names its owner."""

    name: str = Field(pattern=NAME, description="the folder below results/")
    cpu: str = Field(min_length=1)
    vendor: str = Field(min_length=1)
    model: str = Field(description="the processor's family, model and stepping")
    microcode: str
    cores: int = Field(ge=1, description="usable by the process")
    memory: int = Field(ge=0, description="bytes")
    kernel: str
    glibc: str
    peak: tuple[Peak, ...] = Field(description="as the verification measured it")

    def same_hardware(self, other: Machine) -> bool:
        """Say whether two records can be of one machine."""
        alike = [(m.cpu, m.vendor, m.model, m.cores) for m in (self, other)]
        larger = max(self.memory, other.memory)
        return alike[0] == alike[1] and abs(self.memory - other.memory) <= SAME_MEMORY * larger


class Package(Record):
    """A locked package."""

    name: str
    version: str
    sha256: str = Sha256


class Subject(Record):
    """A variant that was timed, to the byte."""

    framework: str
    flavour: str
    baseline: bool
    lock: str = Field(description="SHA-256 of the lock", pattern=r"^[0-9a-f]{64}$")
    packages: tuple[Package, ...] = Field(min_length=1)

    @property
    def id(self) -> str:
        """The variant's name among all."""
        return f"{self.framework}/{self.flavour}"


class Settings(Record):
    """What the bench was asked for."""

    workloads: tuple[str, ...]
    rounds: int = Field(ge=1)
    threads: tuple[int, ...] = Field(min_length=1)
    quick: bool
    pinned: bool = Field(description="each run kept to as many processors as it has threads")
    quota: float | None = Field(description="cores that a container's limit allows")


class Noise(Record):
    """What else went on while a run was timed."""

    load: float = Field(ge=0, description="the load average when it began")
    others: float = Field(ge=0, description="cores that other programs kept busy")
    steal: float = Field(ge=0, description="share of the cores that the host took away")
    throttled: float = Field(ge=0, description="seconds in which a container's limit stopped it")
    frequency: float | None = Field(description="MHz of the fastest core after it")


class Series(Record):
    """Samples of one measure, taken by one process."""

    name: str = Field(min_length=1)
    unit: Unit
    samples: tuple[Annotated[float, Field(ge=LEAST, le=MOST)], ...] = Field(min_length=1)
    graph: str | None = Field(
        default=None, description="the compiled graph's signature, where one is told"
    )
    compile: float | None = Field(
        default=None,
        ge=0,
        le=MOST,
        description="seconds in which it was compiled, its C code from an earlier run's cache",
    )
    profile: Profile | None = Field(
        default=None, description="of calls after the samples, once for each start"
    )


class Run(Record):
    """One turn: a variant in a round, with so many threads."""

    subject: str = Field(description="FRAMEWORK/FLAVOUR, one of the subjects")
    workload: str
    threads: int = Field(ge=1)
    round: int = Field(ge=1)
    start: int | None = Field(
        default=None,
        ge=1,
        description="which start of the program this is of; without it each round is a start",
    )
    seconds: float = Field(ge=0)
    noise: Noise
    series: tuple[Series, ...] = Field(min_length=1)


class Missing(Record):
    """What has no figure, as its program did not answer within the limit."""

    subject: str = Field(description="FRAMEWORK/FLAVOUR, one of the subjects")
    name: str = Field(min_length=1, description="the workload; with numba, which ends it")
    threads: int = Field(ge=1)
    round: int = Field(ge=0, description="in which it did not answer; 0: while it compiled")
    limit: float = Field(gt=0, le=MOST, description="seconds")
    processor: float = Field(ge=0, le=MOST, description="seconds that it had computed by then")

    @property
    def told(self) -> str:
        """What happened, in words."""
        did = f"did not answer in round {self.round}" if self.round else "had not compiled"
        return (
            f"{did} within {self.limit:g} s, {self.processor:.0f} s of them on a processor: "
            "it has no figure"
        )


class Result(Record):
    """What one run of the bench found."""

    model_config = ConfigDict(title="Result of ./invoke bench")

    schema_: Literal[1] = Field(alias="schema", description="raised where a reader could trip")
    began: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", description="UTC")
    seconds: float = Field(ge=0, description="by the monotonic clock")
    commit: str | None = Field(pattern=r"^[0-9a-f]{40,64}$", description="of this project")
    changed: bool = Field(description="files of the project differed from that commit")
    machine: Machine
    settings: Settings
    subjects: tuple[Subject, ...] = Field(min_length=1)
    runs: tuple[Run, ...] = Field(min_length=1)
    missing: tuple[Missing, ...] = Field(
        default=(), description="what did not answer, and has no figures in the runs"
    )
    remarks: tuple[str, ...] = Field(description="what a reader must know of the machine's noise")


class BadResultError(UsageError):
    """A file below results/ is not a result."""


@dataclass(frozen=True)
class Found:
    """A result and its file."""

    path: Path
    result: Result


def write(result: Result, folder: Path = RESULTS) -> Path:
    """Write a result into its machine's folder and return the file; nothing is ever replaced."""
    text = result.model_dump_json(by_alias=True) + "\n"
    stamp = result.began.replace(":", "").replace("-", "")
    # Two runs may begin in one second, and a clock may be set back.
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    path = folder / result.machine.name / f"{stamp}-{mark}.json"
    write_whole(path, text)
    return path


def read(path: Path) -> Result:
    """Return the result in a file; BadResultError says what is wrong with it."""
    mend = "take the file away, or `git checkout` it; other results are not touched by it"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadResultError(f"{path}: cannot be read: {error.strerror}", mend=mend) from error
    try:
        return _checked(Result.model_validate_json(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            what, found = f"{path}: not whole: its JSON breaks off or is broken", first["msg"]
        elif first["loc"] == ("schema",):
            what, found = f"{path}: of another schema", str(first["input"])
            mend = f"this program reads schema {SCHEMA}: use the version of it that wrote the file"
        else:
            where = ".".join(map(str, first["loc"]))
            what, found = f"{path}: not a result: {where}", first["msg"]
        raise BadResultError(what, found=found, mend=mend) from error
    except ValueError as error:
        raise BadResultError(f"{path}: not a result", found=str(error), mend=mend) from error


def _checked(result: Result) -> Result:
    known = {subject.id for subject in result.subjects}
    told = {run.subject for run in result.runs} | {one.subject for one in result.missing}
    unknown = told - known
    if unknown:
        raise ValueError(f"runs of {', '.join(sorted(unknown))}, which is not among its subjects")
    return result


def read_all(folder: Path = RESULTS) -> tuple[list[Found], list[BadResultError]]:
    """Return every result below a folder, oldest first, and why others could not be read."""
    found, bad = [], []
    for path in sorted(folder.glob("*/*.json"), key=lambda p: (p.parent.name, p.name)):
        try:
            found.append(Found(path, read(path)))
        except BadResultError as error:
            bad.append(error)
    return found, bad


def name_for(machine: Machine, wanted: str | None, folder: Path = RESULTS) -> str:
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
        if _taken(machine, wanted, folder):
            raise UsageError(
                f"results/{wanted} has results of another machine",
                expected=f"the same processor, cores and memory: {_hardware(machine)}",
                mend="choose another --machine NAME",
            )
        return wanted
    return next(name for name in _numbered(machine.name) if not _taken(machine, name, folder))


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _taken(machine: Machine, name: str, folder: Path) -> bool:
    return any(
        not machine.same_hardware(one.result.machine)
        for one in read_all(folder)[0]
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
