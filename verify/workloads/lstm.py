"""The training step of an LSTM, with a matrix product for each gate, and with one for all.

The case `tutorial` has the size of the deep learning tutorial's LSTM for sentences.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

LstmSizes = collections.namedtuple("LstmSizes", "steps batch hidden")

FULL = LstmSizes(steps=50, batch=16, hidden=256)
TUTORIAL = LstmSizes(steps=100, batch=16, hidden=128)
SMALL = LstmSizes(steps=3, batch=2, hidden=4)
RATE = 0.1


def models(ops, small):
    """Return the step with separate and with merged weights, which compute the same; a smaller one.

    The smaller one has merged weights, as in the tutorial.
    """
    sizes, tutorial = (SMALL, SMALL) if small else (FULL, TUTORIAL)
    return [
        _training(ops, sizes, "four", False),
        _training(ops, sizes, "merged", True, slow="four"),
        _training(ops, tutorial, "tutorial", True),
    ]


def _training(ops, sizes, name, merged, slow=None):
    random = numpy.random.RandomState(11)
    size = sizes.hidden
    weights = random.randn(size, 4 * size) / numpy.sqrt(size)
    inputs = ops.shared(random.randn(sizes.steps, sizes.batch, 4 * size))
    zeros = ops.shared(numpy.zeros((sizes.batch, size)))
    parts = [slice(number * size, (number + 1) * size) for number in range(4)]
    if merged:
        parameters = [ops.shared(weights)]
    else:
        parameters = [ops.shared(weights[:, part]) for part in parts]

    def step(x, hidden, cell, *ws):
        if merged:
            gates = x + ops.tensor.dot(hidden, ws[0])
            i, f, o, c = (gates[:, part] for part in parts)
        else:
            i, f, o, c = (x[:, part] + ops.tensor.dot(hidden, w) for part, w in zip(parts, ws))
        cell = ops.sigmoid(f) * cell + ops.sigmoid(i) * ops.tensor.tanh(c)
        return ops.sigmoid(o) * ops.tensor.tanh(cell), cell

    outputs, _ = ops.scan(
        step, "lstm", sequences=[inputs], outputs_info=[zeros, zeros], non_sequences=parameters
    )
    cost = (outputs[0] ** 2).mean()
    gradients = ops.grad(cost, parameters)
    updates = [(p, p - RATE * gradient) for p, gradient in zip(parameters, gradients)]
    return Model(name, cost, updates, dict(sizes._asdict()), slow=slow)
