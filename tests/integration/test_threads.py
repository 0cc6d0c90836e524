"""Each call of BLAS gets a number of threads of its own: values, counts, forks, other threads."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Prefix = Callable[[str, str], Path]
DRIVER = Path(__file__).with_name("threads_driver.py")
VARIABLES = {
    "blis": "BLIS_NUM_THREADS",
    "mkl": "MKL_NUM_THREADS",
    "openblas": "OPENBLAS_NUM_THREADS",
}


def driven(place: Path, **environ: str) -> dict[str, Any]:
    output = subprocess.check_output(
        [place / "bin/python", DRIVER, place / "lib/libblas_threads.so.1"],
        env={**os.environ, **environ},
        text=True,
        timeout=300,
    )
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


@pytest.mark.parametrize("flavour", VARIABLES)
@pytest.mark.parametrize("count", [1, 2, 7])
def test_values_and_counts(prefix: Prefix, flavour: str, count: int) -> None:
    place = prefix("theano-1.0.5", flavour)
    # MKL otherwise takes no more threads than there are cores.
    variables = {VARIABLES[flavour]: str(count), "MKL_DYNAMIC": "FALSE"}
    found = driven(place, **variables)
    # OpenBLAS starts no more threads than there are processors.
    most = min(count, len(os.sched_getaffinity(0))) if flavour == "openblas" else count
    assert found == {
        "before": most,
        "wrong": [],
        "after": most,
        # BLIS's threads do not survive a fork.
        "in a child": [200.0, 1 if flavour == "blis" else most],
        "after threads": most,
        "set to one": 1,
        "adapt": 1,
    }


@pytest.mark.parametrize("policy", ["", "fixed"])
def test_a_forked_process_does_not_wait_for_blis_threads(prefix: Prefix, policy: str) -> None:
    """Large products run on all threads before, and their threads stay in the parent."""
    code = (
        "import numpy, os; a = numpy.ones((900, 900)); [a.dot(a) for _ in range(3)]\n"
        "child = os.fork()\n"
        "if not child: os._exit(a.dot(a)[0, 0] != 900)\n"
        "print(os.waitpid(child, 0)[1])"
    )
    environ = {**os.environ, "BLIS_NUM_THREADS": "2", "THEANO_STACKS_THREADS": policy}
    python = prefix("theano-1.0.5", "blis") / "bin/python"
    output = subprocess.check_output([python, "-c", code], env=environ, text=True, timeout=120)
    assert output == "0\n"


def test_it_can_be_switched_off(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "openblas")
    found = driven(place, OPENBLAS_NUM_THREADS="1", THEANO_STACKS_THREADS="fixed")
    assert (found["wrong"], found["adapt"]) == ([], 0)
