"""Time a step of a small network: threads chosen by libblas_threads, all, and one.

    .venv/bin/python measurements/threads.py [--flavours openblas,blis,mkl] [--starts N] [--busy N]

The network: 784-500-10, minibatches of 20, float64, 300 steps in each start. The starts of the
three ways follow each other, beside --busy endless loops. Prints milliseconds a step: the median
of the starts' medians, and the mean of each start.
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
import time
import numpy, theano, theano.tensor as T
random = numpy.random.RandomState(0)
x, y = T.matrix(dtype="float64"), T.lvector()
shapes = [(784, 500), (500,), (500, 10), (10,)]
w, b, v, c = parameters = [theano.shared(0.01 * random.randn(*shape)) for shape in shapes]
p = T.nnet.softmax(T.tanh(x.dot(w) + b).dot(v) + c)
cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y])
updates = [(a, a - 0.01 * g) for a, g in zip(parameters, T.grad(cost, parameters))]
step = theano.function([x, y], cost, updates=updates)
inputs, labels = random.randn(20, 784), random.randint(0, 10, 20)
times = []
for _ in range(300):
    start = time.time()
    step(inputs, labels)
    times.append(time.time() - start)
print("%f %f" % (1e3 * numpy.median(times), 1e3 * numpy.mean(times)))
"""


def main() -> None:
    """Print a table of the ways of each flavour."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flavours", default="openblas,blis,mkl")
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args()
    loops = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(options.busy)]
    try:
        for flavour in options.flavours.split(","):
            report(flavour, options.starts)
    finally:
        for loop in loops:
            loop.kill()


def report(flavour: str, starts: int) -> None:
    """Print the ways of one flavour, timed in turn."""
    workspace = default_workspace()
    variant = load_variant(workspace, flavour, "theano-1.0.5")
    assert variant.blas
    ways = {
        "chosen": {},
        "all": {"THEANO_STACKS_THREADS": "fixed"},
        "one": {variant.blas.threads[0]: "1"},
    }
    python = folder_of(workspace, variant) / "bin/python"
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(starts):
        for name, variables in ways.items():
            output = subprocess.check_output(
                [python, "-c", PROGRAM], env={**os.environ, **variables}, text=True
            )
            median, mean = map(float, output.split())
            times[name].append((median, mean))
    for name, found in times.items():
        middle = statistics.median(median for median, _ in found)
        means = ", ".join(f"{mean:.2f}" for _, mean in found)
        print(f"{flavour:9} {name:7} median {middle:.2f}  means {means}", flush=True)


main()
