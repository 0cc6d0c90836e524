# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: UP031
"""Compare the gradients of scans that end by `until` with finite differences.

Runs on Python 2.7 too. Prints [what is wrong, ...] as JSON.
"""

import json
import sys

import numpy
import theano
from theano import tensor

try:
    from theano.scan_module import until
except ImportError:
    from theano.scan.utils import until

STEP = 1e-6
# They end after five, one and four steps; the last one is not ended.
SEQUENCES = ([0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.6], [0.9, 0.2], [0.1, 0.4, 0.7, 0.8], [0.2, 0.3, 0.1])
STARTS, WEIGHTS = [0.4, 0.7], [0.9, 0.6]
S, Z, W = (tensor.vector(name) for name in ("sequences", "starts", "weights"))


def ended(values, each):
    """Return what a step returns that ends the scan."""
    return values, until(tensor.gt(each, 0.75))


# name: the function of a step, and what goes from step to step.
SCANS = {
    "no state": (lambda s, v, w: ended(s * s * v, s), None),
    "one tap": (lambda s, a, v, w: ended(tensor.tanh(a * v + s * w) + s, s), [Z[0]]),
    "two taps": (
        lambda s, a, b, v, w: ended(b * v + a * w * s, s),
        [{"initial": Z, "taps": [-2, -1]}],
    ),
    "several": (
        lambda s, a, b, c, v, w: ended([b * v + a * c + s, c * w + b * s, a * s * s], s),
        [{"initial": Z, "taps": [-2, -1]}, Z[1], None],
    ),
}
COSTS = {
    "last": lambda outputs: sum((each[-1] ** 2).sum() for each in outputs),
    "sum": lambda outputs: sum((each**2).sum() for each in outputs),
}


def slopes(costs, values, place):
    """Return the slopes of a function's results along one of its arguments."""
    found = []
    for number in range(len(values[place])):
        ends = []
        for side in (1, -1):
            moved = [numpy.array(each) for each in values]
            moved[place][number] += side * STEP
            ends.append(numpy.array(costs(*moved)))
        found.append((ends[0] - ends[1]) / (2 * STEP))
    return numpy.array(found).T


def main():
    """Compare every scan, cost, sequence and argument."""
    wrong, arguments, kinds = [], [S, Z, W], sorted(COSTS)
    for name in sorted(SCANS):
        step, states = SCANS[name]
        outputs, _ = theano.scan(step, S, states, [W[0], W[1]])
        outputs = outputs if isinstance(outputs, list) else [outputs]
        costs = [COSTS[kind](outputs) for kind in kinds]
        gradients = []
        for cost in costs:
            gradients += theano.grad(cost, arguments, disconnected_inputs="ignore")
        function = theano.function(arguments, gradients, on_unused_input="ignore")
        value = theano.function(arguments, costs, on_unused_input="ignore")
        for sequence in SEQUENCES:
            values = [numpy.array(each) for each in (sequence, STARTS, WEIGHTS)]
            found = function(*values)
            for place, argument in enumerate(arguments):
                expected = slopes(value, values, place)
                for number, kind in enumerate(kinds):
                    one, other = found[number * len(arguments) + place], expected[number]
                    if one.shape != other.shape or not numpy.allclose(
                        one, other, rtol=1e-5, atol=1e-6
                    ):
                        words = (name, kind, argument, one, other)
                        wrong.append("%s, %s: d/d %s is %s, not %s" % words)
    sys.stdout.write(json.dumps(wrong) + "\n")


if __name__ == "__main__":
    main()
