"""What is published beside the bench's results: devices' reports, PyMC's samplers and chains.

The bench times a device's programs beside those of the processor. What its verification measures
is published from its report: products beside the device's BLAS alone, and how long moving a graph
to the device takes. Reports are kept in results/devices. Of PyMC, measurements/programs.py writes
results/samplers.json, and measurements/sampling.py results/sampling.json: in their rounds the
samplers, or the environments, take turns.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field

from stacks.bench import store
from stacks.bench.result import MOST, slug
from stacks.bench.store import DEVICES, BadResultError
from stacks.core import records
from stacks.core.console import plural
from stacks.core.disk import write_atomically
from stacks.core.models import Line, Strict
from stacks.core.workspace import Workspace

# The name of a product's timing in a report.
THEANO = re.compile(r"device Gemm (float32|float64) ([1-9]\d{0,5})")
GRAPH, LOCAL = ", GraphToGPU", ", local"
Seconds = Annotated[float, Field(gt=0, lt=1e6)]
T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of file below results/.

    pattern: of their paths. what: what such a file is, for messages. parse: returns what is shown
    of a file; OSError, KeyError, TypeError or ValueError if it is none of this kind.
    """

    pattern: str
    what: str
    fix: str
    parse: Callable[[Path], T]

    def read(self, path: Path) -> T:
        """Return what is shown of a file; BadResultError if it is none of this kind."""
        try:
            return self.parse(path)
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise BadResultError(
                f"{path}: not {self.what}", found=str(error), fix=self.fix
            ) from error

    def read_all(self, workspace: Workspace) -> tuple[list[T], list[BadResultError]]:
        """Return what is kept, by the names of the files, and the errors of other files."""
        return store.read_each(store.files(workspace, self.pattern), self.read)


class Sampler(Strict):
    """A sampler: seconds to its first draw, in a second start too, and of a draw after that."""

    name: Line
    first: Seconds
    second: Seconds
    draw: Seconds


class Samplers(Strict):
    """The samplers of one PyMC in one environment; date: the day, in UTC."""

    program: Line
    environment: Line
    cpu: Line
    date: Line
    samplers: tuple[Sampler, ...]


class Program(Strict):
    """A PyMC on a framework: the seconds of each start in its `sample`, None for one not ended.

    chosen: of openblas; one: of openblas with one thread for each chain; pip: of pip-default.
    library: the SHA-256 of the package of libblas_threads, which chose.
    """

    name: Line
    framework: Line
    library: Line
    chosen: tuple[Seconds, ...]
    one: tuple[Seconds, ...]
    pip: tuple[Seconds | None, ...]


class Sampling(Strict):
    """Chains of a model at once, by several PyMCs; limit: the seconds at which a start was ended.

    draws: of each chain, after as many to tune. date: the day, in UTC.
    """

    model: Line
    chains: int
    draws: int
    limit: Seconds
    cpu: Line
    cores: int
    date: Line
    programs: tuple[Program, ...]


SAMPLERS = Kind(
    "samplers.json",
    "the figures of samplers",
    "take the file that `measurements/programs.py --store` writes",
    lambda path: Samplers.model_validate_json(path.read_bytes()),
)
SAMPLINGS = Kind(
    "sampling.json",
    "the figures of chains",
    "take the file that `measurements/sampling.py --store` writes",
    lambda path: Sampling.model_validate_json(path.read_bytes()),
)


@dataclass(frozen=True)
class Product:
    """A matrix product: rates in GFLOP/s; peak: the nominal one, None if it is not known."""

    name: str
    theano: float
    alone: float
    peak: float | None


@dataclass(frozen=True)
class DeviceReport:
    """What is shown of the report of a verification that opened a device.

    id: FRAMEWORK/FLAVOUR. digests: the names and SHA-256 of its packages. checks: how many passed,
    and the names of the skipped ones. products: each once. moves: a graph's name, the seconds to
    move it to the device with GraphToGPU, and with the local optimiser.
    """

    id: str
    device: str
    driver: str
    cpu: str
    cores: int
    digests: frozenset[tuple[str, str]]
    checks: str
    products: tuple[Product, ...]
    moves: tuple[tuple[str, float, float], ...]

    @property
    def least(self) -> float:
        """The least share of the rate of the device's BLAS alone that a product reaches."""
        return min((one.theano / one.alone for one in self.products), default=0.0)


def is_report(path: Path) -> bool:
    """Return whether a file is the report of a device's verification, by its fields."""
    try:
        content = records.read_json(path)
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "checks" in content and bool(content.get("device"))


def add_report(workspace: Workspace, path: Path) -> Path:
    """Keep a report in results/devices, in place of an earlier one of the same device and variant.

    Raises BadResultError if it is none, or its verification failed.
    """
    report = REPORTS.read(path)
    name = slug(f"{report.device.partition(',')[0]} {report.id.replace('/', ' ')}")
    target = workspace.results / DEVICES / f"{name}.json"
    content = records.read_json(path)
    # Their details name paths of the machine.
    content["checks"] = [{key: one[key] for key in ("name", "status")} for one in content["checks"]]
    write_atomically(target, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return target


def _report(path: Path) -> DeviceReport:
    content: Mapping[str, Any] = records.read_json(path)
    device, machine, checks = content["device"], content["machine"], content["checks"]
    if not content["ok"]:
        raise ValueError("its verification failed, so its figures mean nothing")
    # The last of a name counts: --full repeats some of them.
    medians = {str(one["name"]): _number(one["median"]) for one in content["timings"]}
    matches = [match for name in medians if (match := THEANO.fullmatch(name))]
    products = [
        Product(f"{dtype} {size}", medians[name], alone, device["peaks"].get(dtype))
        for dtype, size, name in sorted((match[1], int(match[2]), match[0]) for match in matches)
        if (alone := medians.get(f"device BLAS alone {dtype} {size}"))
    ]
    moves = [
        (name.removesuffix(GRAPH), seconds, local)
        for name, seconds in medians.items()
        if name.endswith(GRAPH) and (local := medians.get(name.removesuffix(GRAPH) + LOCAL))
    ]
    passed = sum(check["status"] == "pass" for check in checks)
    skipped = ", ".join(str(check["name"]) for check in checks if check["status"] == "skip")
    return DeviceReport(
        id=f"{content['framework']['name']}/{content['variant']}",
        device=str(device["name"]),
        driver=str(device["driver"]),
        cpu=str(machine["cpu"]),
        cores=int(machine["cores"]),
        digests=frozenset((one["name"], one["sha256"]) for one in content["packages"]),
        checks=f"{plural(passed, 'check')} passed" + (f", skipped: {skipped}" if skipped else ""),
        products=tuple(products),
        moves=tuple(moves),
    )


def _number(value: object) -> float:
    if not isinstance(value, (int, float)) or not 0 < value < MOST:
        raise ValueError(f"{value!r} is not a positive number")
    return float(value)


REPORTS = Kind(
    f"{DEVICES}/*.json",
    "a report of a device",
    "take the file that `./invoke verify --variant VARIANT --full --json FILE` writes",
    _report,
)
