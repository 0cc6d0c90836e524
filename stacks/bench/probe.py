"""What is timed, and how a process in an environment is told to; the bench's own workloads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.bench.candidates import Candidate
from stacks.bench.result import Series
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import call
from stacks.core.suggestions import unknown
from stacks.environments.verify import environment
from stacks.profiles.run import WORKLOADS

PROBE = (REPOSITORY / "verify", "bench-probe")
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
# How the variables of the BLAS libraries and their threads begin: which kernels, how many threads.
LIBRARY_VARIABLES = (
    *("OPENBLAS_", "GOTO_", "BLIS_", "THEANO_STACKS_BLIS_", "MKL_"),
    *("OMP_", "GOMP_", "KMP_", "AMDLIBM_"),
)
# No clock tells more, and the files are smaller.
DIGITS = 6
# Programs that take minutes to compile are started less often than there are rounds.
STARTS = {"ntm": 1}
CALLS, QUICK_CALLS = 100, 20
# Seconds in which a process is to answer: ntm compiles for ten minutes on a quiet machine.
LIMIT = 3600.0


def check_names(names: Sequence[str]) -> None:
    """Raise UsageError for a workload that there is not."""
    known = (*OWN, *WORKLOADS)
    for name in names:
        if name not in known:
            raise unknown("workload", name, known)


def environment_of(candidate: Candidate, threads: int) -> dict[str, str]:
    """Return the variables under which a variant is timed on so many threads."""
    # A figure is of the variant, not of the settings of the person who timed it.
    inherited = environment(candidate.place).items()
    env = {name: value for name, value in inherited if not name.startswith(LIBRARY_VARIABLES)}
    framework = candidate.variant.framework
    own = {framework.flags_variable: "", framework.rc_variable: ""}
    return env | dict.fromkeys(THREAD_VARIABLES, str(threads)) | own


def measure(
    candidate: Candidate, workload: str, threads: int, *, quick: bool, limit: float = LIMIT
) -> list[Series]:
    """Run one of the bench's own workloads in a process of its own; return what it measured.

    Raises StacksError where it fails, hangs, or prints what is no measurement.
    """
    module = candidate.variant.framework.module
    words: list[str | Path] = [candidate.place / "bin/python", *PROBE, module, workload]
    words += ["quick"] if quick else []
    said = call(words, env=environment_of(candidate, threads), limit=limit)
    lines = said.strip().splitlines() or [""]
    return [_series(one, candidate, workload) for one in _json(lines[-1], candidate)["series"]]


def options_of(workload: str, quick: bool) -> list[str]:
    """Return the options of a workload's program."""
    return ["--case", "2000"] if quick and workload == "check_blas" else []


def calls_of(workload: str, quick: bool) -> int:
    """Return how often a workload is called in each round."""
    if workload == "check_blas":
        return 10
    return QUICK_CALLS if quick else CALLS


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
