"""Verification reports of devices: kept in results/devices, and shown below the timings.

The bench times a device's programs beside those of the processor. What its verification measures
is published from its report: products beside the device's BLAS alone, and how long moving a graph
to the device takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.result import MOST, slug
from stacks.bench.store import DEVICES, BadResultError
from stacks.core import jsonfile
from stacks.core.console import plural
from stacks.core.disk import write_atomically
from stacks.core.workspace import Workspace

FIX = "take the file that `./invoke verify --variant VARIANT --full --json FILE` writes"
# The name of a product's timing in a report.
THEANO = re.compile(r"device Gemm (float32|float64) ([1-9]\d{0,5})")
GRAPH, LOCAL = ", GraphToGPU", ", local"


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
        content = jsonfile.read(path)
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "checks" in content and bool(content.get("device"))


def add(workspace: Workspace, path: Path) -> Path:
    """Keep a report in results/devices, in place of an earlier one of the same device and variant.

    Raises what `read` raises.
    """
    report = read(path)
    name = slug(f"{report.device.partition(',')[0]} {report.id.replace('/', ' ')}")
    target = workspace.results / DEVICES / f"{name}.json"
    content = jsonfile.read(path)
    # Their details name paths of the machine.
    content["checks"] = [{key: one[key] for key in ("name", "status")} for one in content["checks"]]
    write_atomically(target, json.dumps(content, indent=1, sort_keys=True) + "\n")
    return target


def read(path: Path) -> DeviceReport:
    """Return the report in a file; BadResultError if there is none, or its verification failed."""
    try:
        content = jsonfile.read(path)
        report = _report(content)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadResultError(
            f"{path}: not a report of a device", found=str(error), fix=FIX
        ) from error
    if not content["ok"]:
        raise BadResultError(
            f"{path}: its verification failed, so its figures mean nothing", fix=FIX
        )
    return report


def read_all(workspace: Workspace) -> tuple[list[DeviceReport], list[BadResultError]]:
    """Return the kept reports by the names of their files, and the errors of other files."""
    return store.read_each(store.files(workspace, f"{DEVICES}/*.json"), read)


def _report(content: Mapping[str, Any]) -> DeviceReport:
    """Return what is shown of a report's content; KeyError, TypeError or ValueError if invalid."""
    device, machine, checks = content["device"], content["machine"], content["checks"]
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
