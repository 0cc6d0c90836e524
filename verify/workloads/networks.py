"""The product of check_blas; training steps of a logistic regression, a perceptron, LeNet, an LSTM.

The regression is that of the page on Theano's ProfileMode, the others are of the deep learning
tutorial.
LeNet has two layers of convolution, max-pooling and tanh, then the classifier of the perceptron.
The LSTM has a matrix product for each gate, or one for all.

check_blas is what the frameworks' misc/check_blas.py times, C = 0.4 C + 0.8 A B: ten calls, 5000 x
5000 as in the script, and 2000 x 2000 as in the table that it prints, in both precisions. The first
call is not counted, as in the scripts since Theano 0.9.
"""

from __future__ import absolute_import, division, print_function

import numpy

from verify.blas import speed
from verify.workloads.ops import Model, Sizes

LOGREG = Sizes(samples=1000, features=100, outputs=10)
SMALL_LOGREG = Sizes(samples=5, features=3, outputs=2)
MLP = Sizes(inputs=784, hidden=500, outputs=10, batch=20, samples=1000)
SMALL_MLP = Sizes(inputs=6, hidden=4, outputs=3, batch=2, samples=4)
# side and width: of the square images and filters; first, second: filters of each layer.
LENET = Sizes(side=28, width=5, first=20, second=50, hidden=500, outputs=10, batch=20, samples=1000)
SMALL_LENET = Sizes(side=10, width=3, first=2, second=3, hidden=4, outputs=3, batch=2, samples=4)
POOL = 2
LSTM = Sizes(steps=50, batch=16, hidden=256)
# The size of the tutorial's LSTM for sentences.
TUTORIAL_LSTM = Sizes(steps=100, batch=16, hidden=128)
SMALL_LSTM = Sizes(steps=3, batch=2, hidden=4)


def logreg(ops, small):
    """Return one training step: squared error of a sigmoid, with a penalty on the weights."""
    sizes = SMALL_LOGREG if small else LOGREG
    random = numpy.random.RandomState(13)
    x = ops.shared(random.randn(sizes.samples, sizes.features))
    y = ops.shared(random.randint(0, 2, (sizes.samples, sizes.outputs)).astype(ops.dtype))
    weights = ops.shared(numpy.zeros((sizes.features, sizes.outputs)))
    bias = ops.shared(numpy.zeros(sizes.outputs))
    chance = ops.sigmoid(ops.tensor.dot(x, weights) + bias)
    cost = ((y - chance) ** 2).sum() + 0.01 * (weights**2).sum()
    return [_training(ops, "step", cost, [weights, bias], 1e-3, sizes)]


def mlp(ops, small):
    """Return one training step: log-likelihood of a softmax, with a penalty on the weights."""
    sizes = SMALL_MLP if small else MLP
    random = numpy.random.RandomState(17)
    rows, labels, following = _minibatch(ops, random, sizes.inputs, sizes)
    cost, parameters = _classifier(ops, random, rows, sizes.inputs, labels, sizes)
    matrices = [parameter for parameter in parameters if parameter.ndim == 2]
    cost += 1e-4 * sum((weights**2).sum() for weights in matrices)
    return [_training(ops, "step", cost, parameters, 0.01, sizes, [following])]


def lenet(ops, small):
    """Return one training step on minibatches of images: log-likelihood of a softmax."""
    sizes = SMALL_LENET if small else LENET
    random = numpy.random.RandomState(19)
    rows, labels, following = _minibatch(ops, random, sizes.side**2, sizes)
    shape = (sizes.batch, 1, sizes.side, sizes.side)
    images, parameters = rows.reshape(shape), []
    for count in (sizes.first, sizes.second):
        images, shape, own = _layer(ops, random, images, shape, count, sizes.width)
        parameters += own
    features = shape[1] * shape[2] * shape[3]
    rows = images.reshape((sizes.batch, features))
    cost, own = _classifier(ops, random, rows, features, labels, sizes)
    return [_training(ops, "step", cost, parameters + own, 0.1, sizes, [following])]


def lstm(ops, small):
    """Return the step with separate and with merged weights, which compute the same; a smaller one.

    The smaller one has merged weights, as in the tutorial.
    """
    sizes, tutorial = (SMALL_LSTM, SMALL_LSTM) if small else (LSTM, TUTORIAL_LSTM)
    return [
        _recurrent(ops, sizes, "four", False),
        _recurrent(ops, sizes, "merged", True, slow="four"),
        _recurrent(ops, tutorial, "tutorial", True),
    ]


def _training(ops, name, cost, parameters, rate, sizes, more=(), slow=None):
    """Return the step that lowers a cost by gradient descent. more: further updates."""
    gradients = ops.tensor.grad(cost, parameters)
    updates = [(p, p - rate * gradient) for p, gradient in zip(parameters, gradients)]
    return Model(name, cost, updates + list(more), vars(sizes), slow=slow)


def _minibatch(ops, random, width, sizes):
    """Return (rows, labels) of a minibatch of random data, and the update that takes the next.

    All samples are in shared variables, and a call takes `batch` of them, as in the tutorial.
    """
    rows = ops.shared(random.rand(sizes.samples, width))
    labels = ops.shared(random.randint(0, sizes.outputs, sizes.samples).astype("int32"))
    number = ops.shared(0)
    following = (number, (number + 1) % (sizes.samples // sizes.batch))
    rows, labels = ops.minibatch((rows, labels), number, sizes.batch)
    return rows, labels, following


def _classifier(ops, random, rows, width, labels, sizes):
    """Return the cost and the parameters of a tanh layer and a softmax over rows of a width."""
    tensor = ops.tensor
    weights = _uniform(ops, random, (width, sizes.hidden), width + sizes.hidden)
    bias = ops.shared(numpy.zeros(sizes.hidden))
    # The tutorial begins with zeros; then the first cost would not depend on the other layers.
    out_shape = (sizes.hidden, sizes.outputs)
    out_weights = _uniform(ops, random, out_shape, sizes.hidden + sizes.outputs)
    out_bias = ops.shared(numpy.zeros(sizes.outputs))
    hidden = tensor.tanh(tensor.dot(rows, weights) + bias)
    chances = ops.softmax(tensor.dot(hidden, out_weights) + out_bias)
    # In this form Theano recognises it, and computes it with the softmax in one operation.
    cost = -tensor.log(chances)[tensor.arange(labels.shape[0]), labels].mean()
    return cost, [weights, bias, out_weights, out_bias]


def _layer(ops, random, images, shape, count, width):
    """Return the output of a layer of `count` filters, its shape, and the layer's parameters."""
    batch, channels, side, _ = shape
    filter_shape = (count, channels, width, width)
    fans = channels * width**2 + count * width**2 // POOL**2
    filters = _uniform(ops, random, filter_shape, fans)
    bias = ops.shared(numpy.zeros(count))
    pooled = ops.max_pool(ops.convolve(images, filters, shape, filter_shape), POOL)
    side = (side - width + 1) // POOL
    output = ops.tensor.tanh(pooled + bias.dimshuffle("x", 0, "x", "x"))
    return output, (batch, count, side, side), [filters, bias]


def _uniform(ops, random, shape, fans):
    """Return the tutorial's initial weights of a tanh layer with so many inputs and outputs."""
    bound = numpy.sqrt(6.0 / fans)
    return ops.shared(random.uniform(-bound, bound, shape))


def _recurrent(ops, sizes, name, merged, slow=None):
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
    return _training(ops, name, (outputs[0] ** 2).mean(), parameters, 0.1, sizes, slow=slow)


CHECK_BLAS_SIZES = (2000, 5000)
SMALL_CHECK_BLAS = (20,)
OTHER_DTYPE = {"float64": "float32", "float32": "float64"}


def check_blas(ops, small):
    """Return the product for each size, in the workload's precision and, so named, in the other."""
    other = OTHER_DTYPE[ops.dtype]
    return [
        _product(ops, size, dtype, name % size)
        for dtype, name in ((ops.dtype, "%d"), (other, "%d " + other))
        for size in (SMALL_CHECK_BLAS if small else CHECK_BLAS_SIZES)
    ]


def _product(ops, size, dtype, name):
    _, updates = speed.product_of(ops, dtype, size)
    return Model(name, None, updates, {"size": size}, 2.0 * size**3)
