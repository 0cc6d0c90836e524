"""A turn's processes in an environment: their variables and options, and the kernels' process.

What a round consists of is in verify/workloads/rounds.py, for environments and images alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stacks.bench.candidates import Candidate
from stacks.bench.result import Series
from stacks.channel.settings_files import MODULES
from stacks.core import jsonfile
from stacks.core.errors import StacksError
from stacks.core.process import call
from stacks.core.suggestions import unknown
from stacks.environments import suite, variables
from verify.workloads import rounds

KERNELS: tuple[str, ...] = rounds.KERNELS


def check_names(names: Sequence[str]) -> None:
    """Raise UsageError for an unknown workload."""
    known = (*KERNELS, *rounds.PROGRAMS)
    for name in names:
        if name not in known:
            raise unknown("workload", name, known)


def process_of(workload: str, measure: str) -> str:
    """Return the name of the process that answers a measure: all kernels are one's."""
    is_kernel = workload.partition(",")[0] in KERNELS
    return workload + (rounds.NUMBA if measure.endswith(rounds.NUMBA) and not is_kernel else "")


def environment_of(candidate: Candidate, threads: int) -> dict[str, str]:
    """Return the variables for timing a variant on so many threads."""
    # The device that its verification opened, as the result names it.
    device = (candidate.report or {}).get("device")
    flags = f"device={device['where']}" if device else ""
    inherited = variables.environment(candidate.place)
    env = rounds.variables(inherited, candidate.variant.framework.module, threads, flags)
    return suite.ending_with_this_process(env)


def measure(
    candidate: Candidate, workload: str, threads: int, *, quick: bool, limit: float = rounds.LIMIT
) -> list[Series]:
    """Run some of the kernels in a process and return their series.

    workload: with commas. limit: seconds. Raises StacksError if it fails, hangs, or prints no
    measurement.
    """
    module = candidate.variant.framework.module
    words: list[str | Path] = [candidate.place / "bin/python", suite.SUITE, "bench-probe"]
    words += rounds.kernel_words(module, workload, quick)
    output = call(words, env=environment_of(candidate, threads), limit=limit)
    last = (output.strip().splitlines() or [""])[-1]
    try:
        return [_series(one) for one in jsonfile.parse(last)["series"]]
    except ValueError as error:
        raise StacksError(
            f"{candidate.variant.id}: {workload}: no measurement: {error}", found=last[-200:]
        ) from error


def _series(content: dict[str, Any]) -> Series:
    samples = tuple(rounds.rounded(content["samples"]))
    return Series.model_validate({**content, "samples": samples})


def shared_modules(place: Path) -> list[str]:
    """Return the options by which a program takes C modules that other environments have compiled.

    Their bytes are the same.
    """
    modules = place / MODULES
    return ["--share-modules", modules.read_text()] if modules.is_file() else []
