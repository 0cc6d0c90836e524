"""Time LAPACK and Gemm: threads chosen by libblas_threads, all, and one.

    .venv/bin/python measurements/lapack.py [--variants openblas,blis,mkl] [--sizes 50,200]
        [--rounds N] [--busy N] [--seconds S]

float64. The variants must be built. In a round the three ways follow each other, beside --busy
endless loops. Each call is repeated for --seconds, and the first third of the times is left out.
Prints microseconds: the median and the mean of a call, the median of the rounds; then the ratio of
the chosen median to the better of the other two, and of the chosen mean to that of one thread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
from pathlib import Path

from harness import endless_loops, environments, options

from stacks.variants.variant import Variant

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
    parser = options(__doc__, rounds=5, variants="openblas,blis,mkl", busy=True)
    parser.add_argument("--sizes", default="50,100,200,400,1000,2000")
    parser.add_argument("--seconds", type=float, default=1, help="of each call")
    arguments = parser.parse_args()
    with endless_loops(arguments.busy):
        for name, (variant, prefix) in environments(arguments.variants).items():
            report(name, variant, prefix, arguments)


def report(name: str, variant: Variant, prefix: Path, arguments: argparse.Namespace) -> None:
    """Print the calls of one variant, the three ways timed in turn."""
    assert variant.blas
    ways = {
        "chosen": {},
        "all": {"THEANO_STACKS_THREADS": "fixed"},
        "one": {variant.blas.threads[0]: "1"},
    }
    command = [prefix / "bin/python", "-c", PROGRAM, arguments.sizes, str(arguments.seconds)]
    times: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for _ in range(arguments.rounds):
        for way, variables in ways.items():
            environ = {**os.environ, **variables}
            for line in subprocess.check_output(command, env=environ, text=True).splitlines():
                size, call, *numbers = line.split()
                row = times.setdefault((size, call), {each: [] for each in ways})
                row[way].append((float(numbers[0]), float(numbers[1])))
    for (size, call), row in times.items():
        median = {way: statistics.median(each[0] for each in row[way]) for way in ways}
        mean = {way: statistics.median(each[1] for each in row[way]) for way in ways}
        cells = "".join(f"  {way} {median[way]:9.0f} {mean[way]:9.0f}" for way in ways)
        ratio = median["chosen"] / min(median["all"], median["one"])
        print(
            f"{name:9}{size:>5} {call:11}{cells}"
            f"  median {ratio:.2f}  mean {mean['chosen'] / mean['one']:.2f}",
            flush=True,
        )


main()
