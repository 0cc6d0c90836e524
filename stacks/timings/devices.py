"""Verification reports of devices: kept in results/devices, and shown below the timings.

The bench times a device's programs beside those of the processor. What its verification measures
is published from its report: products beside the device's BLAS alone, and how long moving a graph
to the device takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from stacks.bench.machine import slug
from stacks.bench.record import Record
from stacks.bench.store import DEVICES, BadResultError
from stacks.core import jsonfile
from stacks.core.console import plural
from stacks.core.disk import write_atomically
from stacks.core.models import Line
from stacks.core.workspace import Workspace

FIX = "take the file that `./invoke verify --variant VARIANT --full --json FILE` writes"
# The name of a product's timing in a report.
THEANO = re.compile(r"device Gemm (float32|float64) ([1-9]\d{0,5})")
WAYS = ("GraphToGPU", "local")


class _Part(Record):
    """A part of a report, of which only some fields are needed here."""

    model_config = ConfigDict(extra="ignore")


class _Named(_Part):
    name: Line


class _Check(_Named):
    status: Line


class _Timing(_Named):
    median: float = Field(gt=0)
    unit: Line


class _Package(_Named):
    sha256: Line


class _Machine(_Part):
    cpu: Line
    cores: int


class _Device(_Named):
    driver: Line
    peaks: dict[str, float]


class DeviceReport(_Part):
    """What is shown of the report of a verification that opened a device."""

    ok: bool
    packages: tuple[_Package, ...]
    variant: Line
    framework: _Named
    machine: _Machine
    device: _Device
    checks: tuple[_Check, ...]
    timings: tuple[_Timing, ...]

    @property
    def id(self) -> str:
        """The variant's name among all."""
        return f"{self.framework.name}/{self.variant}"

    @property
    def contents(self) -> frozenset[tuple[str, str]]:
        """The names and SHA-256 of its packages."""
        return frozenset((one.name, one.sha256) for one in self.packages)

    def median(self, name: str) -> float | None:
        """Return the last of a name's timings: --full repeats some of them."""
        return next((one.median for one in reversed(self.timings) if one.name == name), None)


@dataclass(frozen=True)
class Product:
    """A matrix product: rates in GFLOP/s; peak: the nominal one, None if it is not known."""

    name: str
    theano: float
    alone: float
    peak: float | None


def is_report(path: Path) -> bool:
    """Return whether a file is the report of a device's verification, by its fields."""
    try:
        content = jsonfile.read(path)
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "checks" in content and bool(content.get("device"))


def add(workspace: Workspace, path: Path) -> Path:
    """Keep a report in results/devices, in place of an earlier one of the same device and variant.

    Raises what `read` raises.
    """
    report = read(path)
    name = slug(f"{report.device.name.partition(',')[0]} {report.framework.name} {report.variant}")
    target = workspace.results / DEVICES / f"{name}.json"
    content = jsonfile.read(path)
    # Their details name paths of the machine.
    content["checks"] = [{key: one[key] for key in ("name", "status")} for one in content["checks"]]
    write_atomically(target, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return target


def read(path: Path) -> DeviceReport:
    """Return the report in a file; BadResultError if there is none, or its verification failed."""
    try:
        report = DeviceReport.model_validate_json(json.dumps(jsonfile.read(path)))
    except (OSError, ValueError) as error:
        where = error.errors()[0]["loc"] if isinstance(error, ValidationError) else ()
        found = ".".join(map(str, where)) or str(error)
        raise BadResultError(f"{path}: not a report of a device", found=found, fix=FIX) from error
    if not report.ok:
        raise BadResultError(
            f"{path}: its verification failed, so its figures mean nothing", fix=FIX
        )
    return report


def read_all(workspace: Workspace) -> tuple[list[DeviceReport], list[BadResultError]]:
    """Return the kept reports by the names of their files, and the errors of files that are none.

    A symbolic link is none: it may lead out of results/.
    """
    reports, errors = [], []
    # In a checkout both are one folder.
    folders = {workspace.published_results / DEVICES, workspace.results / DEVICES}
    paths = {path for folder in folders for path in folder.glob("*.json")}
    for path in sorted(paths, key=lambda path: path.name):
        try:
            if path.is_symlink():
                raise BadResultError(f"{path}: a symbolic link", fix=FIX)
            reports.append(read(path))
        except BadResultError as error:
            errors.append(error)
    return reports, errors


def products(report: DeviceReport) -> list[Product]:
    """Return the products of a report in its order, each once."""
    matches = [match for one in report.timings if (match := THEANO.fullmatch(one.name))]
    return [
        Product(f"{dtype} {size}", theano, alone, report.device.peaks.get(dtype))
        for dtype, size in sorted({(match[1], int(match[2])) for match in matches})
        if (theano := report.median(f"device Gemm {dtype} {size}"))
        and (alone := report.median(f"device BLAS alone {dtype} {size}"))
    ]


def moves(report: DeviceReport) -> Iterator[tuple[str, float, float]]:
    """Yield (graph, seconds with GraphToGPU, seconds with the local optimiser)."""
    for one in report.timings:
        graph, comma, way = one.name.partition(", ")
        local = report.median(f"{graph}, {WAYS[1]}")
        if comma and way == WAYS[0] and local:
            yield graph, one.median, local


def counted(checks: Sequence[_Check]) -> str:
    """Return how many checks passed, and the names of the skipped ones."""
    passed = sum(check.status == "pass" for check in checks)
    skipped = ", ".join(check.name for check in checks if check.status == "skip")
    return f"{plural(passed, 'check')} passed" + (f", skipped: {skipped}" if skipped else "")
