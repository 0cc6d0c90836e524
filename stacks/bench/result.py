"""The result of one run of the bench: its settings, its machine, its noise and every sample.

The docstrings of its classes are part of results/result.schema.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from stacks.core.models import NAME as VARIANT
from stacks.core.models import Line, Sha256, Strict
from verify.core import machine as suite_machine

# Values outside are no measurements, and would overflow in arithmetic.
LEAST, MOST = 1e-15, 1e15
Count = Annotated[int, Field(le=10**15)]
Unit = Literal["GFLOP/s", "s", "ns"]
NAME = r"^[a-z0-9][a-z0-9.-]*$"
# With the label of another channel, if its packages are from there.
FLAVOUR = r"^[a-z0-9][a-z0-9._+-]*(@[a-z0-9][a-z0-9._+-]*)?$"
# Larger noise is a remark: cores, share of the cores, share of the highest clock.
OTHERS, STEAL, FREQUENCY = 0.10, 0.01, 0.90
# The kernel reserves a little more or less of the memory at each start.
SAME_MEMORY = 0.1


class Record(Strict):
    """A part of a result."""

    model_config = ConfigDict(allow_inf_nan=False)


class Peak(Record):
    """The measured peak of fused multiply-adds."""

    dtype: Literal["float32", "float64"]
    threads: Count = Field(ge=1)
    gflops: float = Field(ge=0, le=MOST)


class Machine(Record):
    """The machine that the figures belong to, and nothing that names its owner."""

    name: str = Field(pattern=NAME, description="the folder below results/")
    cpu: Line = Field(min_length=1)
    vendor: Line = Field(min_length=1)
    model: Line = Field(description="the processor's family, model and stepping")
    microcode: Line
    cores: Count = Field(ge=1, description="usable by the process")
    memory: Count = Field(ge=0, description="bytes")
    kernel: Line
    glibc: Line
    peak: tuple[Peak, ...] = Field(description="as the verification measured it")

    def same_hardware(self, other: Machine) -> bool:
        """Say whether both are the same machine, judged by processor, cores and memory."""
        alike = [(m.cpu, m.vendor, m.model, m.cores) for m in (self, other)]
        larger = max(self.memory, other.memory)
        return alike[0] == alike[1] and abs(self.memory - other.memory) <= SAME_MEMORY * larger

    def speaks_for(self, other: Machine) -> bool:
        """Say whether its fastest flavour is likely to be the other's.

        That is on the same kind of processor, with less than twice or half the cores: two flavours
        that are equal on two cores may differ by 1.4 on sixteen (measurements/, Kernels).
        """
        few, many = sorted((self.cores, other.cores))
        return (self.vendor, self.model) == (other.vendor, other.model) and many < 2 * few


class MeasuredPackage(Record):
    """A locked package."""

    name: Line
    version: Line
    sha256: Sha256


class Device(Record):
    """The device that a variant computed on."""

    name: Line = Field(min_length=1)
    driver: Line = Field(description="with the compiler and the BLAS of the environment")


class Subject(Record):
    """A variant that was timed, to the byte."""

    # Stored results also have an image, which is null.
    model_config = ConfigDict(extra="ignore")

    framework: str = Field(pattern=VARIANT)
    flavour: str = Field(pattern=FLAVOUR)
    baseline: bool
    lock: Sha256 = Field(description="SHA-256 of the lock")
    device: Device | None = Field(default=None, description="null on the processor")
    packages: tuple[MeasuredPackage, ...] = Field(min_length=1)

    @property
    def id(self) -> str:
        """The variant's name among all."""
        return f"{self.framework}/{self.flavour}"


class Settings(Record):
    """What the bench was asked for."""

    workloads: tuple[Line, ...]
    rounds: Count = Field(ge=1)
    threads: tuple[Annotated[Count, Field(ge=1)], ...] = Field(min_length=1)
    quick: bool
    pinned: bool = Field(description="each run kept to as many processors as it has threads")
    quota: float | None = Field(ge=0, le=MOST, description="cores that a container's limit allows")
    busy: Count = Field(default=0, ge=0, description="busy loops that ran beside every round")


class Noise(Record):
    """What else went on while a run was timed, besides the busy loops of the bench."""

    load: float = Field(ge=0, le=MOST, description="the load average when it began")
    others: float = Field(ge=0, le=MOST, description="cores that other programs kept busy")
    steal: float = Field(ge=0, le=MOST, description="share of the cores that the host took away")
    throttled: float = Field(
        ge=0, le=MOST, description="seconds in which a container's limit stopped it"
    )
    frequency: float | None = Field(ge=0, le=MOST, description="MHz of the fastest core after it")


class Series(Record):
    """Samples of one measure, taken by one process."""

    name: Line = Field(min_length=1)
    unit: Unit
    samples: tuple[Annotated[float, Field(ge=LEAST, le=MOST)], ...] = Field(min_length=1)
    graph: Line | None = Field(
        default=None, description="the compiled graph's signature, for programs"
    )
    compile: float | None = Field(
        default=None,
        ge=0,
        le=MOST,
        description="seconds in which it was compiled, its C code from an earlier run's cache",
    )


class Run(Record):
    """One turn: a variant in a round, with so many threads."""

    subject: Line = Field(description="FRAMEWORK/FLAVOUR, one of the subjects")
    workload: Line = Field(description="or those that one process timed, with commas")
    threads: Count = Field(ge=1)
    round: Count = Field(ge=1)
    start: Count = Field(ge=1, description="which start of the program this is of")
    busy: Count = Field(default=0, ge=0, description="busy loops that ran beside it")
    seconds: float = Field(ge=0, le=MOST)
    noise: Noise
    series: tuple[Series, ...] = Field(min_length=1)


class Missing(Record):
    """What has no figure, as its program did not answer within the limit, or failed."""

    subject: Line = Field(description="FRAMEWORK/FLAVOUR, one of the subjects")
    name: Line = Field(min_length=1, description="the workload; with numba, which ends it")
    threads: Count = Field(ge=1)
    round: Count = Field(ge=0, description="in which it did not answer; 0: while it compiled")
    limit: float = Field(gt=0, le=MOST, description="seconds")
    processor: float = Field(ge=0, le=MOST, description="seconds that it had computed by then")
    failure: Line = Field(
        default="", description="how its program ended, where that was before the limit"
    )

    @property
    def cell(self) -> str:
        """What stands in place of the figure."""
        return "failed" if self.failure else "no answer"

    @property
    def reason(self) -> str:
        """Why there is no figure, for people."""
        if self.failure:
            when = f"in round {self.round}" if self.round else "before its first round"
            return f"failed {when}: {self.failure}: it has no figure"
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
    seconds: float = Field(ge=0, le=MOST, description="by the monotonic clock")
    commit: str | None = Field(pattern=r"^[0-9a-f]{40,64}$", description="of this project")
    changed: bool = Field(description="files of the project differed from that commit")
    machine: Machine
    settings: Settings
    subjects: tuple[Subject, ...] = Field(min_length=1)
    runs: tuple[Run, ...] = Field(min_length=1)
    missing: tuple[Missing, ...] = Field(
        default=(), description="what did not answer, and has no figures in the runs"
    )
    remarks: tuple[Line, ...] = Field(description="what a reader must know of the machine's noise")


def describe_machine(reports: Sequence[dict[str, Any]]) -> Machine:
    """Return this machine, with the highest peaks of its verification reports."""
    peaks: dict[str, dict[int, float]] = {}
    for peak in (each for report in reports for each in report["machine"]["peak"]):
        rates = peaks.setdefault(peak["dtype"], {})
        rates[peak["threads"]] = max(rates.get(peak["threads"], 0.0), peak["gflops"])
    content = suite_machine.described(peaks)
    return Machine.model_validate({**content, "peak": tuple(content["peak"])})


def is_here(report: dict[str, Any]) -> bool:
    """Say whether a report is of this machine, judged by processor, usable cores and kernel."""
    here, there = suite_machine.describe({}), report["machine"]
    return all(there[name] == here[name] for name in ("cpu", "cores", "kernel"))


def slug(text: str) -> str:
    """Return a text as a folder name: `AMD EPYC 7B13, 2 cores` gives amd-epyc-7b13-2-cores."""
    return str(suite_machine.folder_name(text))


def watch_noise(living: Callable[[], float] = lambda: 0.0) -> Callable[[], Noise]:
    """Watch what else the machine does from now on; the returned function gives its noise.

    living: gives the processor seconds of our processes that still run; the system counts them as
    ours only after their end.
    """
    before = suite_machine.counters(living())

    def noise() -> Noise:
        after = suite_machine.counters(living())
        return Noise.model_validate(suite_machine.noise_between(before, after))

    return noise


def noise_remarks(noises: Sequence[Noise]) -> list[str]:
    """Return a sentence for each kind of noise that the timings may have suffered from."""
    sentences = []
    of = f"of {len(noises)} measurements"
    noisy = [noise.others for noise in noises if noise.others > OTHERS]
    if noisy:
        sentences.append(
            f"other programs were busy in {len(noisy)} {of}, on up to {max(noisy):.1f} cores"
        )
    stolen = [noise.steal for noise in noises if noise.steal > STEAL]
    if stolen:
        sentences.append(
            f"the host took processor time away in {len(stolen)} {of}, up to {max(stolen):.0%}"
        )
    throttled = sum(noise.throttled for noise in noises)
    if throttled:
        sentences.append(f"the container's CPU limit stopped it for {throttled:.1f} s")
    clocks = [noise.frequency for noise in noises if noise.frequency]
    if clocks and min(clocks) < FREQUENCY * max(clocks):
        sentences.append(f"the cores' clock went from {min(clocks):.0f} to {max(clocks):.0f} MHz")
    return sentences
