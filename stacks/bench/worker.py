"""One process in an environment that times one workload."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.bench import profile
from stacks.bench.candidates import Candidate
from stacks.bench.results import NUMBA, Series
from stacks.command import call
from stacks.disk import REPOSITORY, scratch
from stacks.errors import StacksError, UsageError
from stacks.names import unknown
from stacks.profiling import PROGRAM, WORKLOADS
from stacks.verification import environment

PROBE = REPOSITORY / "verify" / "bench_probe.py"
OWN = ("gemm", "elementwise")
# The frameworks compute these on one thread, however many there are.
ON_ONE_THREAD = ("elementwise",)
# Each library has its own; a library that is not there does not mind.
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# No clock tells more, and the files are smaller.
DIGITS = 6
QUICK_CALLS = "20"
PROFILE_CALLS = "20"


def check_names(names: Sequence[str]) -> None:
    """Raise UsageError for a workload that there is not."""
    known = (*OWN, *WORKLOADS)
    for name in names:
        if name not in known:
            raise unknown("workload", name, known)


def measure(candidate: Candidate, workload: str, threads: int, *, quick: bool) -> list[Series]:
    """Run a workload in a process of its own and return what it measured.

    Raises StacksError where it fails, or prints what is no measurement.
    """
    framework = candidate.variant.framework
    env = environment(candidate.place) | dict.fromkeys(THREAD_VARIABLES, str(threads))
    # A figure is of the variant, not of the settings of the person who timed it.
    env |= {framework.flags_variable: "", framework.rc_variable: ""}
    if workload in OWN:
        return _own(candidate, workload, env, quick)
    return _program(candidate, workload, env, quick)


def _own(candidate: Candidate, workload: str, env: Mapping[str, str], quick: bool) -> list[Series]:
    module = candidate.variant.framework.module
    words: list[str | Path] = [candidate.place / "bin/python", PROBE, module, workload]
    said = call([*words, *(["quick"] if quick else [])], env=env)
    lines = said.strip().splitlines() or [""]
    return [_series(one, candidate, workload) for one in _json(lines[-1], candidate)["series"]]


def _program(
    candidate: Candidate, workload: str, env: Mapping[str, str], quick: bool
) -> list[Series]:
    found = _cases(candidate, workload, env, options_of(workload, quick))
    if candidate.variant.framework.module == "pytensor":
        # What a user gets who asks for nothing.
        options = [*options_of(workload, quick), "--linker", "numba"]
        numba = _cases(candidate, workload, env, options)
        found += [one.model_copy(update={"name": one.name + NUMBA}) for one in numba]
    return found


def options_of(workload: str, quick: bool) -> list[str]:
    """Return how often a workload is called: as often as it says itself, where there is time."""
    if workload == "check_blas":
        return ["--case", "2000"] if quick else []
    return ["--calls", QUICK_CALLS] if quick else []


def profile_calls_of(workload: str) -> str:
    """Return how many calls are profiled, after the timed ones."""
    # One product has nothing to break down, and takes seconds.
    return "1" if workload == "check_blas" else PROFILE_CALLS


def _cases(
    candidate: Candidate, workload: str, env: Mapping[str, str], options: Sequence[str]
) -> list[Series]:
    with scratch() as folder:
        report = folder / "report.json"
        words: list[str | Path] = [candidate.place / "bin/python", PROGRAM, workload, *options]
        words += ["--profile-calls", profile_calls_of(workload)]
        call([*words, "--quiet", "--json", report], env=env)
        cases = _json(report.read_text(), candidate)["cases"]
    return [
        _series(
            {
                "name": workload if case["name"] == workload else f"{workload} {case['name']}",
                "unit": "s",
                "samples": case["seconds"],
                "graph": case["graph"]["signature"],
                "compile": float(f"{case['compile']['seconds']:.{DIGITS}g}"),
                "profile": profile.of_case(case),
            },
            candidate,
            workload,
        )
        for case in cases
    ]


def _json(text: str, candidate: Candidate) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise StacksError(
            f"{candidate.variant.id}: what was measured cannot be read", found=text[-200:]
        ) from error
    return found


def _series(found: Mapping[str, Any], candidate: Candidate, workload: str) -> Series:
    try:
        samples = tuple(float(f"{sample:.{DIGITS}g}") for sample in found["samples"])
        return Series.model_validate({**found, "samples": samples})
    except ValueError as error:
        raise UsageError(f"{candidate.variant.id}: {workload}: no measurement: {error}") from error
