"""The bench's own workloads, run in an environment, and the variables of all timed processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from stacks.bench.candidates import Candidate
from stacks.bench.record import rounded
from stacks.bench.result import NUMBA, Series
from stacks.channel.settings_files import MODULES
from stacks.core import jsonfile
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.process import call
from stacks.core.suggestions import unknown
from stacks.environments import verify as verification
from stacks.profiles.run import WORKLOADS
from stacks.variants.variant import Framework

PROBE = (REPOSITORY / "verify", "bench-probe")
OWN = ("gemm", "elementwise")
# The frameworks compute these on one thread only.
ON_ONE_THREAD = ("elementwise",)
# Each BLAS library reads its own.
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# Prefixes of variables that choose kernels and threads of the BLAS libraries.
LIBRARY_VARIABLES = (
    *("OPENBLAS_", "GOTO_", "BLIS_", "THEANO_STACKS_BLIS_", "MKL_"),
    *("OMP_", "GOMP_", "KMP_", "AMDLIBM_"),
)
# With it each start compiles the Python files that it imports, some of them in its first step.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# Significant digits; clocks have no more.
DIGITS = 6
# Starts of programs that take minutes to compile; others start in every round.
STARTS = {"ntm": 1}
# Of which one start is enough with --quick, and whose rounds count as starts (docs/notes.md, Two
# starts). The next start compiles to the same, and its first calls take longer than a round.
ALIKE = ("check_blas",)
CALLS, QUICK_CALLS = 100, 20
# Of programs whose calls take seconds, or less than a millisecond: then a round of fewer is shorter
# than the time that the system gives to another program at once.
OWN_CALLS = {"check_blas": 10, "mlp": 300}
# A slow library takes 7 s for a product of 5000 x 5000; lstm's calls 50 ms.
QUICK_OWN_CALLS = {**OWN_CALLS, "check_blas": 1, "lstm": 10}
QUICK_CASES = {"lstm": "merged"}
# Seconds that a process may take to answer: ntm compiles for ten minutes on a quiet machine.
LIMIT = 3600.0


def check_names(names: Sequence[str]) -> None:
    """Raise UsageError for an unknown workload."""
    known = (*OWN, *WORKLOADS)
    for name in names:
        if name not in known:
            raise unknown("workload", name, known)


def process_of(workload: str, measure: str) -> str:
    """Return the name of the process that answers a measure: all of OWN are one's."""
    is_own = workload.partition(",")[0] in OWN
    return workload + (NUMBA if measure.endswith(NUMBA) and not is_own else "")


def environment_of(candidate: Candidate, threads: int) -> dict[str, str]:
    """Return the variables for timing a variant on so many threads."""
    # The user's own settings must not change the figures.
    inherited = verification.environment(candidate.place).items()
    env = {name: value for name, value in inherited if not name.startswith(LIBRARY_VARIABLES)}
    framework = candidate.variant.framework
    # The device that its verification opened, as the result names it.
    device = (candidate.report or {}).get("device")
    flags = f"device={device['where']}" if device else ""
    own = {framework.flags_variable: flags, framework.rc_variable: "", NO_BYTECODE: ""}
    env |= dict.fromkeys(THREAD_VARIABLES, str(threads)) | own
    return verification.ending_with_this_process(env)


def measure(
    candidate: Candidate, workload: str, threads: int, *, quick: bool, limit: float = LIMIT
) -> list[Series]:
    """Run some of the bench's own workloads in a process and return their series.

    workload: with commas. limit: seconds. Raises StacksError if it fails, hangs, or prints no
    measurement.
    """
    module = candidate.variant.framework.module
    words: list[str | Path] = [candidate.place / "bin/python", *PROBE, module, workload]
    words += ["quick"] if quick else []
    output = call(words, env=environment_of(candidate, threads), limit=limit)
    last = (output.strip().splitlines() or [""])[-1]
    try:
        return [_series(one) for one in jsonfile.parse(last)["series"]]
    except ValueError as error:
        raise StacksError(
            f"{candidate.variant.id}: {workload}: no measurement: {error}", found=last[-200:]
        ) from error


def options_of(candidate: Candidate, workload: str, quick: bool) -> list[str]:
    """Return the options of a workload's program in a variant's environment.

    It takes C modules that other environments have compiled: their bytes are the same.
    """
    options = ["--case", QUICK_CASES[workload]] if quick and workload in QUICK_CASES else []
    modules = candidate.place / MODULES
    return [*options, "--share-modules", modules.read_text()] if modules.is_file() else options


def runs_numba(framework: Framework, workload: str) -> bool:
    """Return whether a workload is timed with numba too: where it is the default linker.

    gemm times the product of check_blas with it already.
    """
    is_default = framework.module == "pytensor" and Version(framework.version).major >= 3
    return is_default and workload != "check_blas"


def calls_of(workload: str, quick: bool) -> int:
    """Return the number of calls of a workload in each round."""
    own = QUICK_OWN_CALLS if quick else OWN_CALLS
    return own.get(workload, QUICK_CALLS if quick else CALLS)


def _series(content: Mapping[str, Any]) -> Series:
    samples = tuple(rounded(float(sample), DIGITS) for sample in content["samples"])
    return Series.model_validate({**content, "samples": samples})
