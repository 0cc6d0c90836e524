"""Verification reports of devices: kept in results/devices, and shown below the timings.

The bench times a device's programs beside those of the processor. What its verification measures
is published from its report: products beside the device's BLAS alone, and how long moving a graph
to the device takes.
"""

from __future__ import annotations

import json
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
# Beginnings of the names of timings in a report.
THEANO, ALONE = "device Gemm ", "device BLAS alone "
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


class _Machine(_Part):
    cpu: Line
    cores: int


class _Device(_Named):
    driver: Line
    peaks: dict[str, float]


class DeviceReport(_Part):
    """What is shown of the report of a verification that opened a device."""

    ok: bool
    variant: Line
    framework: _Named
    machine: _Machine
    device: _Device
    checks: tuple[_Check, ...]
    timings: tuple[_Timing, ...]

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
    """Say whether a file is the report of a device's verification; False if it cannot be read."""
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


def read_all(workspace: Workspace) -> list[DeviceReport]:
    """Return the kept reports by the names of their files; raises BadResultError."""
    folder = workspace.published_results / DEVICES
    return [read(path) for path in sorted(folder.glob("*.json"))]


def products(report: DeviceReport) -> list[Product]:
    """Return the products of a report in its order, each once."""
    names = [one.name[len(THEANO) :] for one in report.timings if one.name.startswith(THEANO)]
    return [
        Product(name, theano, alone, report.device.peaks.get(name.split()[0]))
        for name in sorted(set(names), key=_size)
        if (theano := report.median(THEANO + name)) and (alone := report.median(ALONE + name))
    ]


def _size(name: str) -> tuple[str, int]:
    dtype, _, size = name.partition(" ")
    return dtype, int(size) if size.isdigit() else 0


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
    return f"{plural(passed, 'check')} passed" + (f"; skipped: {skipped}" if skipped else "")
