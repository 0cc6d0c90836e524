"""What is computed on the device, and on the host beside it. Theano's gpuarray only."""

from __future__ import absolute_import, division, print_function

import collections

import numpy
import theano
from theano import tensor
from theano.tensor import nnet

from verify.device import graph as device_graph

# name: as it is reported; ops: one of these must do the work; build: returns (inputs, outputs,
# arguments); reference: computes the results with NumPy, or None: Theano's own Python code does.
Case = collections.namedtuple("Case", "name ops build reference")

FLOAT = "float32"
# The longest inner product has some hundred terms.
TOLERANCE = 1e-4


def numbers(*shape):
    """Return random numbers, the same ones each time."""
    random = numpy.random.RandomState(sum(shape))
    return random.uniform(0.1, 1, shape).astype(FLOAT)


def _gemm():
    a, b, c = tensor.fmatrices("abc")
    product = numpy.float32(0.4) * c + numpy.float32(0.8) * tensor.dot(a, b)
    return [a, b, c], [product], [numbers(65, 70), numbers(70, 67), numbers(65, 67)]


def _gemv():
    a, x, y = tensor.fmatrix("a"), tensor.fvector("x"), tensor.fvector("y")
    return [a, x, y], [y + tensor.dot(a, x)], [numbers(65, 70), numbers(70), numbers(65)]


def _elementwise():
    x = tensor.fmatrix("x")
    return [x], [tensor.tanh(x) * tensor.exp(-x) + nnet.sigmoid(tensor.log(x))], [numbers(65, 70)]


def _reduce():
    x = tensor.fmatrix("x")
    return [x], [x.sum(), x.sum(axis=0), x.sum(axis=1)], [numbers(65, 70)]


def _softmax():
    x = tensor.fmatrix("x")
    return [x], [nnet.softmax(x)], [numbers(65, 70)]


def _convolution():
    images, filters = tensor.ftensor4("images"), tensor.ftensor4("filters")
    return (
        [images, filters],
        [nnet.conv2d(images, filters)],
        [numbers(2, 3, 12, 12), numbers(4, 3, 3, 3)],
    )


def _scan():
    x, w = tensor.fmatrix("x"), tensor.fmatrix("w")
    start = tensor.zeros_like(x[0])
    states, _ = theano.scan(
        lambda row, state, w: tensor.tanh(row + tensor.dot(state, w)),
        sequences=x,
        outputs_info=start,
        non_sequences=w,
    )
    return [x, w], [states], [numbers(9, 20), numbers(20, 20) - numpy.float32(0.5)]


def _scanned(x, w):
    states, state = [], numpy.zeros(x.shape[1])
    for row in x.astype("float64"):
        state = numpy.tanh(row + numpy.dot(state, w.astype("float64")))
        states.append(state)
    return [numpy.asarray(states)]


def _convolved(images, filters):
    images, filters = images.astype("float64"), filters.astype("float64")[:, :, ::-1, ::-1]
    rows, columns = filters.shape[2:]
    shape = images.shape[2] - rows + 1, images.shape[3] - columns + 1
    found = numpy.zeros((images.shape[0], filters.shape[0]) + shape)
    for i in range(rows):
        for j in range(columns):
            part = images[:, :, i : i + shape[0], j : j + shape[1]]
            found += numpy.einsum("bchw,fc->bfhw", part, filters[:, :, i, j])
    return [found]


CASES = (
    Case("Gemm", ("GpuGemm",), _gemm, None),
    Case("Gemv", ("GpuGemv",), _gemv, None),
    Case("elementwise", ("GpuElemwise",), _elementwise, None),
    Case("reduce", ("GpuCAReduceCPY", "GpuCAReduceCuda"), _reduce, None),
    Case("softmax", ("GpuSoftmax", "GpuDnnSoftmax"), _softmax, None),
    Case("convolution", ("GpuCorrMM", "GpuDnnConv"), _convolution, _convolved),
    Case("scan", ("Scan",), _scan, _scanned),
)


def compute(case, mode=None):
    """Return what became of a case as a dictionary; exceptions of the device come through.

    mode: the one to compile with; without it the framework's default, with the user's settings.
    """
    inputs, outputs, arguments = case.build()
    function = theano.function(inputs, outputs, mode=mode)
    found = [numpy.asarray(value) for value in function(*arguments)]
    expected = case.reference(*arguments) if case.reference else _on_host(case)
    where = device_graph.places(function.maker.fgraph.toposort())
    return {
        "error": max(_error(a, b) for a, b in zip(found, expected)),
        "served": any(name in where.device for name in case.ops),
        "places": where._asdict(),
    }


def _on_host(case):
    inputs, outputs, arguments = case.build()
    mode = theano.compile.mode.Mode(linker="py", optimizer="fast_compile").excluding("gpuarray")
    function = theano.function(inputs, outputs, mode=mode)
    return [numpy.asarray(value) for value in function(*arguments)]


def _error(found, expected):
    """Return the largest difference as a share of the largest number."""
    if found.shape != expected.shape:
        return float("inf")
    difference = numpy.abs(found.astype("float64") - expected)
    worst = float(difference.max() / max(float(numpy.abs(expected).max()), 1e-30))
    return float("inf") if worst != worst else worst


def training_step(steps=3):
    """Train a small network on the device and on the host; return the same as compute()."""
    on_device, function = _train(None, steps)
    on_host, _ = _train(
        theano.compile.mode.Mode(linker="py", optimizer="fast_compile").excluding("gpuarray"), steps
    )
    where = device_graph.places(function.maker.fgraph.toposort())
    errors = [_error(numpy.asarray(a), numpy.asarray(b)) for a, b in zip(on_device, on_host)]
    return {"error": max(errors), "served": "GpuGemm" in where.device, "places": where._asdict()}


def _train(mode, steps):
    x, labels = tensor.fmatrix("x"), tensor.ivector("labels")
    weights = [
        theano.shared(numbers(*shape) - numpy.float32(0.5)) for shape in ((20, 30), (30,), (30, 5))
    ]
    hidden = tensor.tanh(tensor.dot(x, weights[0]) + weights[1])
    guess = nnet.softmax(tensor.dot(hidden, weights[2]))
    loss = nnet.categorical_crossentropy(guess, labels).mean()
    updates = [
        (weight, weight - numpy.float32(0.1) * slope)
        for weight, slope in zip(weights, tensor.grad(loss, weights))
    ]
    function = theano.function([x, labels], loss, updates=updates, mode=mode)
    for _ in range(steps):
        last = function(numbers(16, 20), numpy.arange(16, dtype="int32") % 5)
    return [last] + [weight.get_value() for weight in weights], function


def left_on_host():
    """Return {what: the op that the optimiser leaves on the host} of common functions."""
    x = tensor.fmatrix("x")
    outputs = {
        "max": x.max(),
        "argmax": x.argmax(axis=1),
        "log-softmax": nnet.logsoftmax(x),
        "cumulative sum": tensor.cumsum(x, axis=0),
        "sort": tensor.sort(x, axis=1),
    }
    found = {}
    for name, output in outputs.items():
        mode = theano.compile.mode.Mode(linker="py").including(*_tags())
        graph = theano.gof.FunctionGraph([x], [output], clone=True)
        mode.excluding(*_excluded()).optimizer.optimize(graph)
        host = device_graph.places(graph.toposort()).host
        if host:
            found[name] = ", ".join(sorted(host))
    return found


def _tags():
    return [tag for tag in theano.config.optimizer_including.split(":") if tag]


def _excluded():
    return [tag for tag in theano.config.optimizer_excluding.split(":") if tag]
