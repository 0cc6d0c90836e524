"""Time LAPACK and Gemm: threads chosen by libblas_threads, all, and one.

    .venv/bin/python measurements/lapack.py [--flavours openblas,blis,mkl] [--sizes 50,200]
        [--rounds N] [--busy N] [--seconds S]

float64, on theano-1.0.5. In a round the three ways follow each other, beside --busy endless loops;
each call is repeated for --seconds, and the first third of the times is left out. Prints
microseconds: the median and the mean of a call, the median of the rounds; then the ratio of the
chosen median to the better of the other two, and of the chosen mean to that of one thread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stacks.core.workspace import default_workspace
from stacks.environments.folders import folder_of
from stacks.variants.load import load_variant

PROGRAM = """
import sys, time
import numpy as np, scipy.linalg as sl
for n in map(int, sys.argv[1].split(",")):
    random = np.random.RandomState(0)
    g, b = random.rand(n, n), random.rand(n, 5)
    a = g.dot(g.T) + n * np.eye(n)
    calls = {
        "cholesky": lambda: sl.cholesky(a, lower=True, check_finite=False),
        "solve": lambda: np.linalg.solve(a, b),
        "triangular": lambda: sl.solve_triangular(a, b, lower=True, check_finite=False),
        "eigh": lambda: np.linalg.eigh(a),
        "svd": lambda: np.linalg.svd(g),
        "gemm": lambda: g.dot(g),
    }
    for name, call in calls.items():
        times, end = [], time.time() + float(sys.argv[2])
        while time.time() < end or len(times) < 9:
            start = time.time()
            call()
            times.append(1e6 * (time.time() - start))
        times = times[len(times) // 3 :]
        print(n, name, np.median(times), np.mean(times))
"""


def main() -> None:
    """Print a table of each flavour."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flavours", default="openblas,blis,mkl")
    parser.add_argument("--sizes", default="50,100,200,400,1000,2000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    loops = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(options.busy)]
    try:
        for flavour in options.flavours.split(","):
            report(flavour, options)
    finally:
        for loop in loops:
            loop.kill()


def report(flavour: str, options: argparse.Namespace) -> None:
    """Print the calls of one flavour, the three ways timed in turn."""
    workspace = default_workspace()
    variant = load_variant(workspace, flavour, "theano-1.0.5")
    assert variant.blas
    ways = {
        "chosen": {},
        "all": {"THEANO_STACKS_THREADS": "fixed"},
        "one": {variant.blas.threads[0]: "1"},
    }
    python = folder_of(workspace, variant) / "bin/python"
    command = [python, "-c", PROGRAM, options.sizes, str(options.seconds)]
    times: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for _ in range(options.rounds):
        for way, variables in ways.items():
            environ = {**os.environ, **variables}
            for line in subprocess.check_output(command, env=environ, text=True).splitlines():
                size, name, *numbers = line.split()
                row = times.setdefault((size, name), {each: [] for each in ways})
                row[way].append((float(numbers[0]), float(numbers[1])))
    for (size, name), row in times.items():
        median = {way: statistics.median(each[0] for each in row[way]) for way in ways}
        mean = {way: statistics.median(each[1] for each in row[way]) for way in ways}
        cells = "".join(f"  {way} {median[way]:9.0f} {mean[way]:9.0f}" for way in ways)
        ratio = median["chosen"] / min(median["all"], median["one"])
        print(
            f"{flavour:9}{size:>5} {name:11}{cells}"
            f"  median {ratio:.2f}  mean {mean['chosen'] / mean['one']:.2f}",
            flush=True,
        )


main()
