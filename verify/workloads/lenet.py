"""A training step of LeNet as the deep learning tutorial has it, on minibatches of 20 images.

Two layers of convolution, max-pooling and tanh, then the classifier of the workload `mlp`.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads import mlp

# side and width: of the square images and filters; first, second: filters of each layer.
LenetSizes = collections.namedtuple(
    "LenetSizes", "side width first second hidden outputs batch samples"
)

FULL = LenetSizes(28, 5, first=20, second=50, hidden=500, outputs=10, batch=20, samples=1000)
SMALL = LenetSizes(10, 3, first=2, second=3, hidden=4, outputs=3, batch=2, samples=4)
RATE, POOL = 0.1, 2


def models(ops, small):
    """Return one training step: log-likelihood of a softmax."""
    sizes = SMALL if small else FULL
    random = numpy.random.RandomState(19)
    rows, labels, following = mlp.minibatch(ops, random, sizes.side**2, sizes)
    shape = (sizes.batch, 1, sizes.side, sizes.side)
    images, parameters = rows.reshape(shape), []
    for count in (sizes.first, sizes.second):
        images, shape, own = _layer(ops, random, images, shape, count, sizes.width)
        parameters += own
    features = shape[1] * shape[2] * shape[3]
    rows = images.reshape((sizes.batch, features))
    cost, own = mlp.classifier(ops, random, rows, features, labels, sizes)
    return [mlp.training(ops, cost, parameters + own, RATE, following, sizes)]


def _layer(ops, random, images, shape, count, width):
    """Return the output of a layer of `count` filters, its shape, and the layer's parameters."""
    batch, channels, side, _ = shape
    filter_shape = (count, channels, width, width)
    fans = channels * width**2 + count * width**2 // POOL**2
    filters = mlp.uniform(ops, random, filter_shape, fans)
    bias = ops.shared(numpy.zeros(count))
    pooled = ops.max_pool(ops.convolve(images, filters, shape, filter_shape), POOL)
    side = (side - width + 1) // POOL
    output = ops.tensor.tanh(pooled + bias.dimshuffle("x", 0, "x", "x"))
    return output, (batch, count, side, side), [filters, bias]
