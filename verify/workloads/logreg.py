"""The logistic regression of the page on Theano's ProfileMode."""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

LogregSizes = collections.namedtuple("LogregSizes", "samples features outputs")

FULL = LogregSizes(samples=1000, features=100, outputs=10)
SMALL = LogregSizes(samples=5, features=3, outputs=2)
RATE = 1e-3


def models(ops, small):
    """Return one training step: squared error of a sigmoid, with a penalty on the weights."""
    sizes = SMALL if small else FULL
    random = numpy.random.RandomState(13)
    x = ops.shared(random.randn(sizes.samples, sizes.features))
    y = ops.shared(random.randint(0, 2, (sizes.samples, sizes.outputs)).astype(ops.dtype))
    weights = ops.shared(numpy.zeros((sizes.features, sizes.outputs)))
    bias = ops.shared(numpy.zeros(sizes.outputs))
    chance = ops.sigmoid(ops.tensor.dot(x, weights) + bias)
    cost = ((y - chance) ** 2).sum() + 0.01 * (weights**2).sum()
    gradients = ops.grad(cost, [weights, bias])
    updates = [(p, p - RATE * g) for p, g in zip((weights, bias), gradients)]
    return [Model("step", cost, updates, dict(sizes._asdict()))]
