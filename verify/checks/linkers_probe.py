"""Compile a small model with one of PyTensor's linkers and time it. Started by linkers.py.

Argument: the linker. Prints a JSON object: `compile`, the seconds until the first result; `step`,
samples of the seconds of a call; `peak`, the most memory in bytes, of this process or of a compiler
that it starts; `value`, what the model computes.
"""

from __future__ import absolute_import, division, print_function

import json

from verify.core.clock import monotonic
from verify.theano_stacks_times import peak

ROWS, COLUMNS = 200, 5
SAMPLES, CALLS = 5, 1000


def main(argv):
    """Time the log-density of a linear regression and its gradient, as a sampler calls them."""
    import numpy
    import pytensor
    from pytensor import tensor

    random = numpy.random.RandomState(1)
    x = random.standard_normal((ROWS, COLUMNS))
    y = x.sum(axis=1) + random.standard_normal(ROWS)
    point = tensor.vector("point", dtype="float64")
    error = (y - tensor.dot(x, point[:COLUMNS])) / tensor.exp(point[COLUMNS])
    density = (-0.5 * error**2 - point[COLUMNS]).sum() - 0.5 * (point**2).sum()
    gradient = pytensor.gradient.grad(density, point)
    outputs, mode = [density, gradient], argv[0].upper()
    start = monotonic()
    function = pytensor.function([point], outputs, mode=mode, trust_input=True)
    at = numpy.zeros(COLUMNS + 1)
    value = function(at)
    seconds = monotonic() - start
    steps = []
    for _ in range(SAMPLES):
        start = monotonic()
        for _ in range(CALLS):
            function(at)
        steps.append((monotonic() - start) / CALLS)
    result = {"compile": seconds, "step": steps, "peak": peak(), "value": float(value[0])}
    print(json.dumps(result))
