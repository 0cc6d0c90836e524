"""Runs, subjects and results as the tests of the bench need them."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.candidates import Candidate
from stacks.bench.result import (
    Device,
    Machine,
    MeasuredPackage,
    Missing,
    Noise,
    Result,
    Run,
    Series,
    Settings,
    Subject,
)
from stacks.bench.schedule import BenchOptions, Plan
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.locks.lock import Lock
from stacks.sources.pins import LockedPackage
from stacks.variants.load import load_variant
from unit.helpers.checkout import CHECKOUT

LOCK = Lock((LockedPackage("numpy", "1.22.4", "0", "u/noarch/n.conda", "b" * 64, "c" * 32, 1),), ())
# Samples: those of ALIKE differ from QUICK's by no more than the noise.
SLOW = [40.0, 41, 39, 40, 42, 40, 41]
QUICK = [100.0, 104, 98, 101, 103, 99, 100]
ALIKE = [101.0, 103, 99, 100, 104, 98, 101]
PASSED = {
    "ok": True,
    "packages": [{"name": "numpy", "version": "1.22.4", "sha256": "b" * 64}],
    "machine": {
        "cpu": "Here", "vendor": "Me", "cores": 2, "memory": 1, "kernel": "6", "glibc": "2.36",
        "peak": [],
    },
}  # fmt: skip
QUIET = Noise(load=0.1, others=0.0, steal=0.0, throttled=0.0, frequency=3000.0)
MACHINE = Machine(
    name="here-2-cores",
    cpu="Here",
    vendor="Someone",
    model="1 2 3",
    microcode="0x1",
    cores=2,
    memory=8 << 30,
    kernel="6.1",
    glibc="2.36",
    peak=(),
)


def subject(flavour: str, framework: str = "theano-1.0.5", *, baseline: bool = False) -> Subject:
    return Subject(
        framework=framework,
        flavour=flavour,
        baseline=baseline,
        lock="a" * 64,
        packages=(MeasuredPackage(name="numpy", version="1.22.4", sha256="b" * 64),),
    )


BASE, FAST, OTHER = subject("base", baseline=True), subject("fast"), subject("other")
ON_DEVICE = subject("device").model_copy(update={"device": Device(name="a GPU", driver="1")})


def run(of: Subject, number: int, *samples: float, **series: Any) -> Run:
    shape = {"name": "Gemm", "unit": "GFLOP/s", **series}
    return Run(
        subject=of.id,
        workload="gemm",
        threads=2,
        round=number,
        start=number,
        seconds=1.0,
        noise=QUIET,
        series=(Series(samples=samples, **shape),),
    )


def runs(of: Subject, values: Sequence[float], **series: Any) -> list[Run]:
    return [run(of, number, value, **series) for number, value in enumerate(values, 1)]


def beside_loops(found: Sequence[Run], busy: int = 2) -> list[Run]:
    return [one.model_copy(update={"busy": busy}) for one in found]


def missing(of: Subject, number: int = 0) -> Missing:
    return Missing(
        subject=of.id, name="ntm, numba", threads=2, round=number, limit=300.0, processor=286.7
    )


def result(found: Sequence[Run], *subjects: Subject, **more: Any) -> Result:
    settings = Settings(
        workloads=("gemm",), rounds=7, threads=(2,), quick=True, pinned=True, quota=None
    )
    content: dict[str, Any] = {
        "schema": 1,
        "began": "2026-11-21T05:30:00Z",
        "seconds": 60.0,
        "commit": "c" * 40,
        "changed": False,
        "machine": MACHINE,
        "settings": settings,
        "subjects": subjects,
        "runs": tuple(found),
        "remarks": (),
        **more,
    }
    return Result(**content)


def candidate(
    name: str, framework: str = "theano-1.0.5", *, report: dict[str, Any] | None = PASSED
) -> Candidate:
    return Candidate(load_variant(CHECKOUT, name, framework), Path("/p") / name, LOCK, report)


def plan(
    *names: str, threads: tuple[int, ...] = (1, 2), campaign: bool = False, **more: Any
) -> Plan:
    chosen = tuple(candidate(name) for name in names)
    usual: dict[str, Any] = {"workload": "gemm", "rounds": 3, "quick": True}
    # A plan of few rounds is shown whole; a user's has more.
    return Plan(chosen, BenchOptions.model_construct(**(usual | more)), threads, campaign)


def write_report(workspace: Workspace, content: dict[str, Any]) -> Path:
    path = folders.report_path(workspace, load_variant(workspace, "openblas", "theano-1.0.5"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def kernels_of(place: Path) -> None:
    """Give an environment a Python that answers as a kernel's process does."""
    series = [{"name": "Gemm", "unit": "GFLOP/s", "samples": [100.123456789, 99.0]}]
    python = place / "bin/python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(
        f"#!{sys.executable} -S\nimport sys\nprint('{{\"ready\": []}}', flush=True)\n"
        f"for line in sys.stdin: print('{json.dumps({'series': series})}', flush=True)\n"
    )
    python.chmod(0o755)


def written(workspace: Workspace, **more: Any) -> Path:
    found = [*runs(BASE, [1.0, 2.0]), *runs(FAST, [3.0, 4.0])]
    return store.write(workspace, result(found, BASE, FAST, **more))
