"""Gemm of the BLAS libraries themselves, called without a framework, beside the processor's peak.

    .venv/bin/python measurements/blas.py [--variants openblas,blis,mkl]
        [--sizes 64,200,500,2000,4000] [--rounds 3] [--json FILE]

One thread, GFLOP/s of its processor time, the best of the rounds; in a round the variants take
turns, each in a process of its own, which measures the peak as well (verify/blas/peak.c). The
variants must be built, on a framework whose Python is 3.7 or later.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from harness import REPOSITORY, answer, environments, in_turn, options, save

from stacks.environments.make import settings
from stacks.environments.programs import environment

THREADS = {name + "_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "BLIS", "MKL")}
PRECISIONS = ("float64", "float32")

# The hook of the environment has set the library's variables by the time that this runs.
DRIVER = """
import ctypes, json, sys, time
import numpy
path, compiler, room, repository, sizes = sys.argv[1:5] + [json.loads(sys.argv[5])]
sys.path.insert(0, repository)
from verify.blas import kernels
blas, kernel = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL), kernels.load_peak(compiler, room)
double, pointer = ctypes.c_double, ctypes.c_void_p
found = {}
for dtype, number, letter in (("float64", double, "d"), ("float32", ctypes.c_float, "s")):
    fastest = kernels.best_set(kernel, dtype, 1)
    found[dtype] = {"peak": kernels.rate_of(kernel, dtype, fastest, 1, kernels.MEASUREMENT)}
    gemm = getattr(blas, "cblas_%sgemm" % letter)
    for n in sizes:
        a, b, c = (numpy.random.RandomState(i).rand(n, n).astype(dtype) for i in range(3))
        at = [pointer(x.ctypes.data) for x in (a, b, c)]
        call = (101, 111, 111, n, n, n, number(1), at[0], n, at[1], n, number(0), at[2], n)
        gemm(*call)
        assert numpy.allclose(c, a.dot(b), rtol=1e-3)
        calls, rate = max(1, int(2e9 / (2.0 * n**3))), 0
        for _ in range(5):
            start = time.thread_time()
            for _ in range(calls):
                gemm(*call)
            rate = max(rate, 2.0 * n**3 * calls / (time.thread_time() - start) / 1e9)
        found[dtype][str(n)] = rate
print(json.dumps(found))
"""


def main() -> None:
    """Measure and print a table for each precision."""
    parser = options(__doc__, rounds=3, variants="openblas,blis,mkl")
    parser.add_argument("--sizes", default="64,200,500,2000,4000", help="n of n x n, by commas")
    parser.add_argument("--json", type=Path, help="all samples")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    places = {name: place for name, (_, place) in environments(arguments.variants).items()}
    with tempfile.TemporaryDirectory(prefix="blas-") as room:
        samples = in_turn(arguments.rounds, places, lambda name: one(places[name], room, sizes))
    save(arguments.json, samples)
    for dtype in PRECISIONS:
        print(table(dtype, sizes, samples))


def one(place: Path, room: str, sizes: list[int]) -> Any:
    """Return {precision: {"peak" or size: GFLOP/s}} of one process."""
    names = json.loads((place / settings.EXPECTATION).read_text())["blas"]["libraries"]
    library = next(path for name in names for path in sorted((place / "lib").glob(name)))
    words: list[object] = [place / "bin/python", "-B", "-c", DRIVER, library]
    words += [place / "bin/g++", room, REPOSITORY, json.dumps(sizes)]
    return answer(words, environment(place), **THREADS)


def table(dtype: str, sizes: list[int], samples: dict[str, list[Any]]) -> str:
    """Return a precision's rows: the best of each size, and the best as a share of the peak."""
    peak = max(sample[dtype]["peak"] for found in samples.values() for sample in found)
    head = "".join(f"{size:>8}" for size in sizes)
    lines = [f"{dtype}, GFLOP/s; peak {peak:.0f}", f"{'':<24}{head}    best of the peak"]
    for name, found in samples.items():
        best = [max(sample[dtype][str(size)] for sample in found) for size in sizes]
        row = "".join(f"{rate:8.0f}" for rate in best)
        lines.append(f"{name:<24}{row}    {100 * max(best) / peak:.0f} %")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
