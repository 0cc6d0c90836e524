"""Runs, subjects and results as the tests of the bench need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacks.bench.result import (
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


def run(of: Subject, number: int, *samples: float, **series: Any) -> Run:
    shape = {"name": "Gemm", "unit": "GFLOP/s", **series}
    return Run(
        subject=of.id,
        workload="gemm",
        threads=2,
        round=number,
        seconds=1.0,
        noise=QUIET,
        series=(Series(samples=samples, **shape),),
    )


def runs(of: Subject, values: Sequence[float], **series: Any) -> list[Run]:
    return [run(of, number, value, **series) for number, value in enumerate(values, 1)]


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
