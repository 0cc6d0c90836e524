"""Time a step of a small network: threads chosen by libblas_threads, all, and one.

    .venv/bin/python measurements/threads.py [--variants openblas,blis,mkl] [--rounds N] [--busy N]

The network: 784-500-10, minibatches of 20, float64, 300 steps in each start. The starts of the
three ways follow each other, beside --busy endless loops. Prints milliseconds a step: the median
of the starts' medians, and the mean of each start.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path

from harness import endless_loops, environments, in_turn, options, run

from stacks.variants.variant import Variant

PROGRAM = """
import time, numpy
try:
    import theano, theano.tensor as T
    softmax = T.nnet.softmax
except ImportError:
    import pytensor as theano, pytensor.tensor as T
    softmax = T.special.softmax
random = numpy.random.RandomState(0)
x, y = T.matrix(dtype="float64"), T.lvector()
shapes = [(784, 500), (500,), (500, 10), (10,)]
w, b, v, c = parameters = [theano.shared(0.01 * random.randn(*shape)) for shape in shapes]
p = softmax(T.tanh(x.dot(w) + b).dot(v) + c)
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
    arguments = options(__doc__, rounds=6, variants="openblas,blis,mkl", busy=True).parse_args()
    with endless_loops(arguments.busy):
        for variant, place in environments(arguments.variants).values():
            report(variant, place, arguments.rounds)


def report(variant: Variant, place: Path, rounds: int) -> None:
    """Print the ways of one flavour, timed in turn."""
    assert variant.blas
    ways = {
        "chosen": {},
        "all": {"THEANO_STACKS_THREADS": "fixed"},
        "one": {variant.blas.threads[0]: "1"},
    }

    def start(way: str) -> tuple[float, ...]:
        output = run([place / "bin/python", "-c", PROGRAM], {**os.environ, **ways[way]})
        return tuple(map(float, output.split()))

    times = in_turn(rounds, ways, start)
    for name, found in times.items():
        middle = statistics.median(median for median, _ in found)
        means = ", ".join(f"{mean:.2f}" for _, mean in found)
        print(f"{variant.id:24} {name:7} median {middle:.2f}  means {means}", flush=True)


if __name__ == "__main__":
    main()
