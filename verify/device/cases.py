"""Computations on the device, compared with the host. For Theano's gpuarray only."""

from __future__ import absolute_import, division, print_function

import collections

import numpy
import theano
from theano import tensor
from theano.tensor import nnet

from verify.core import graph as graphs

# name: in the report; ops: one of these must do the work; shapes: of the arguments, random numbers;
# outputs: takes the inputs; reference: computes the results with NumPy; None: Theano's Python code
# does; offset: to subtract from the last input.
Case = collections.namedtuple("Case", "name ops shapes outputs reference offset")
Case.__new__.__defaults__ = (None, 0)
DTYPES = ("float32", "float64")
# Of the training.
STEPS = 3
KINDS = {1: tensor.vector, 2: tensor.matrix, 4: tensor.tensor4}


def numbers(dtype, *shape):
    """Return random numbers, the same for a shape each time."""
    random = numpy.random.RandomState(sum(shape))
    return random.uniform(0.1, 1, shape).astype(dtype)


def _gemm(a, b, c):
    alpha, beta = (numpy.asarray(number, a.dtype) for number in (0.8, 0.4))
    return [beta * c + alpha * tensor.dot(a, b)]


def _elementwise(x):
    return [tensor.tanh(x) * tensor.exp(-x) + nnet.sigmoid(tensor.log(x))]


def _scan(x, w):
    states, _ = theano.scan(
        lambda row, state, w: tensor.tanh(row + tensor.dot(state, w)),
        sequences=x,
        outputs_info=tensor.zeros_like(x[0]),
        non_sequences=w,
    )
    return [states]


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
    result = numpy.zeros((images.shape[0], filters.shape[0]) + shape)
    for i in range(rows):
        for j in range(columns):
            part = images[:, :, i : i + shape[0], j : j + shape[1]]
            result += numpy.einsum("bchw,fc->bfhw", part, filters[:, :, i, j])
    return [result]


MATRIX = (65, 70)
CASES = (
    Case("Gemm", ("GpuGemm",), (MATRIX, (70, 67), (65, 67)), _gemm),
    Case("Gemv", ("GpuGemv",), (MATRIX, (70,), (65,)), lambda a, x, y: [y + tensor.dot(a, x)]),
    Case("elementwise", ("GpuElemwise",), (MATRIX,), _elementwise),
    Case(
        "reduce",
        ("GpuCAReduceCPY", "GpuCAReduceCuda"),
        (MATRIX,),
        lambda x: [x.sum(), x.sum(axis=0), x.sum(axis=1)],
    ),
    Case("softmax", ("GpuSoftmax", "GpuDnnSoftmax"), (MATRIX,), lambda x: [nnet.softmax(x)]),
    Case(
        "convolution",
        ("GpuCorrMM", "GpuDnnConv"),
        ((2, 3, 12, 12), (4, 3, 3, 3)),
        lambda images, filters: [nnet.conv2d(images, filters)],
        _convolved,
    ),
    Case("scan", ("Scan",), ((9, 20), (20, 20)), _scan, _scanned, 0.5),
)


def compute(case, mode=None):
    """Compute a case on the device in both precisions and compare it with the reference.

    mode: to compile with; None: the framework's default, with the user's settings. Returns a
    dictionary: `errors`, {precision: the largest as a share of the largest number}; `served`,
    whether one of the case's ops is in each graph; and `places`, the NodePlaces in float32, with
    what is on the host in float64 too. Raises what the device raises.
    """
    results = {}
    for dtype in DTYPES:
        found, function, arguments = _call(case, dtype, mode)
        if case.reference:
            expected = case.reference(*arguments)
        else:
            expected = _call(case, dtype, _host_mode())[0]
        results[dtype] = _comparison(found, expected, function, case.ops)
    single, double = (results[dtype]["places"] for dtype in DTYPES)
    return {
        "errors": {dtype: result["error"] for dtype, result in results.items()},
        "served": all(result["served"] for result in results.values()),
        "places": dict(single, host=dict(double["host"], **single["host"])),
    }


def _call(case, dtype, mode):
    arguments = [numbers(dtype, *shape) for shape in case.shapes]
    arguments[-1] -= numpy.asarray(case.offset, dtype)
    inputs = [KINDS[len(shape)](dtype=dtype) for shape in case.shapes]
    function = theano.function(inputs, case.outputs(*inputs), mode=mode)
    return function(*arguments), function, arguments


def _host_mode():
    mode = theano.compile.mode.Mode(linker="py", optimizer="fast_compile")
    return mode.excluding("gpuarray")


def _comparison(results, expected, function, ops):
    places = graphs.places(function.maker.fgraph.toposort())
    pairs = zip(results, expected)
    return {
        "error": max(_error(numpy.asarray(a), numpy.asarray(b)) for a, b in pairs),
        "served": any(name in places.device for name in ops),
        "places": places._asdict(),
    }


def _error(result, expected):
    """Return the largest difference as a share of the largest number."""
    if result.shape != expected.shape:
        return float("inf")
    difference = numpy.abs(result.astype("float64") - expected)
    worst = float(difference.max() / max(float(numpy.abs(expected).max()), 1e-30))
    return float("inf") if worst != worst else worst


def training_step():
    """Train a small network on the device and on the host in float32; return as compute()."""
    on_device, function = _train(None)
    on_host, _ = _train(_host_mode())
    result = _comparison(on_device, on_host, function, ("GpuGemm",))
    return dict(result, errors={"float32": result.pop("error")})


def _train(mode):
    x, labels = tensor.fmatrix("x"), tensor.ivector("labels")
    weights = [
        theano.shared(numbers("float32", *shape) - numpy.float32(0.5))
        for shape in ((20, 30), (30,), (30, 5))
    ]
    hidden = tensor.tanh(tensor.dot(x, weights[0]) + weights[1])
    guess = nnet.softmax(tensor.dot(hidden, weights[2]))
    loss = nnet.categorical_crossentropy(guess, labels).mean()
    updates = [
        (weight, weight - numpy.float32(0.1) * slope)
        for weight, slope in zip(weights, tensor.grad(loss, weights))
    ]
    function = theano.function([x, labels], loss, updates=updates, mode=mode)
    for _ in range(STEPS):
        last = function(numbers("float32", 16, 20), numpy.arange(16, dtype="int32") % 5)
    return [last] + [weight.get_value() for weight in weights], function


def left_on_host():
    """Return {function: ops that the optimiser leaves on the host} of common functions."""
    x, ops = tensor.fmatrix("x"), {}
    for name, output in (
        ("max", x.max()),
        ("argmax", x.argmax(axis=1)),
        ("log-softmax", nnet.logsoftmax(x)),
        ("cumulative sum", tensor.cumsum(x, axis=0)),
        ("sort", tensor.sort(x, axis=1)),
    ):
        mode, config = theano.compile.mode.Mode(linker="py"), theano.config
        mode = mode.including(*filter(None, config.optimizer_including.split(":")))
        mode = mode.excluding(*filter(None, config.optimizer_excluding.split(":")))
        graph = theano.gof.FunctionGraph([x], [output], clone=True)
        mode.optimizer.optimize(graph)
        host = graphs.places(graph.toposort()).host
        if host:
            ops[name] = ", ".join(sorted(host))
    return ops
