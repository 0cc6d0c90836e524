"""A training step of the multilayer perceptron of the deep learning tutorial."""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

MlpSizes = collections.namedtuple("MlpSizes", "inputs hidden outputs batch samples")

FULL = MlpSizes(inputs=784, hidden=500, outputs=10, batch=20, samples=1000)
SMALL = MlpSizes(inputs=6, hidden=4, outputs=3, batch=2, samples=4)
RATE, PENALTY = 0.01, 1e-4


def models(ops, small):
    """Return one training step: log-likelihood of a softmax, with a penalty on the weights."""
    sizes = SMALL if small else FULL
    random = numpy.random.RandomState(17)
    rows, labels, following = minibatch(ops, random, sizes.inputs, sizes)
    cost, parameters = classifier(ops, random, rows, sizes.inputs, labels, sizes)
    matrices = [parameter for parameter in parameters if parameter.ndim == 2]
    cost += PENALTY * sum((weights**2).sum() for weights in matrices)
    return [training(ops, cost, parameters, RATE, following, sizes)]


def minibatch(ops, random, width, sizes):
    """Return (rows, labels) of a minibatch of random data, and the update that takes the next.

    All samples are in shared variables, and a call takes `batch` of them, as in the tutorial.
    """
    rows = ops.shared(random.rand(sizes.samples, width))
    labels = ops.shared(random.randint(0, sizes.outputs, sizes.samples).astype("int32"))
    number = ops.shared(0)
    following = (number, (number + 1) % (sizes.samples // sizes.batch))
    rows, labels = ops.minibatch((rows, labels), number, sizes.batch)
    return rows, labels, following


def classifier(ops, random, rows, width, labels, sizes):
    """Return the cost and the parameters of a tanh layer and a softmax over rows of a width."""
    tensor = ops.tensor
    weights = uniform(ops, random, (width, sizes.hidden), width + sizes.hidden)
    bias = ops.shared(numpy.zeros(sizes.hidden))
    # The tutorial begins with zeros; then the first cost would not depend on the other layers.
    out_weights = uniform(ops, random, (sizes.hidden, sizes.outputs), sizes.hidden + sizes.outputs)
    out_bias = ops.shared(numpy.zeros(sizes.outputs))
    hidden = tensor.tanh(tensor.dot(rows, weights) + bias)
    chances = ops.softmax(tensor.dot(hidden, out_weights) + out_bias)
    # In this form Theano recognises it, and computes it with the softmax in one operation.
    cost = -tensor.log(chances)[tensor.arange(labels.shape[0]), labels].mean()
    return cost, [weights, bias, out_weights, out_bias]


def uniform(ops, random, shape, fans):
    """Return the tutorial's initial weights of a tanh layer with so many inputs and outputs."""
    bound = numpy.sqrt(6.0 / fans)
    return ops.shared(random.uniform(-bound, bound, shape))


def training(ops, cost, parameters, rate, following, sizes):
    """Return the step that lowers a cost by gradient descent and takes the next minibatch."""
    gradients = ops.grad(cost, parameters)
    updates = [(p, p - rate * gradient) for p, gradient in zip(parameters, gradients)]
    return Model("step", cost, updates + [following], dict(sizes._asdict()))
