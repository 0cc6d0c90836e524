"""What the frameworks spell differently, under one name each."""

from __future__ import absolute_import, division, print_function

import importlib
import warnings

import numpy


class Ops(object):
    """The symbolic operations that the workloads are made of, for one framework and precision.

    profile: whether scans keep profiles; linker: that of scans, by default the framework's choice.
    """

    def __init__(self, framework, dtype, profile, linker=None):
        self.framework = framework
        self.linker = linker
        self.tensor = framework.tensor
        self.dtype = dtype
        self.profile = profile
        self.is_theano = framework.name == "theano"
        # Constants and means take this precision, so that nothing is silently float64.
        framework.config.floatX = dtype
        self.module = framework.module

    def shared(self, value, name=None):
        """Return a shared variable; values of floats take the workload's precision."""
        value = numpy.asarray(value)
        if value.dtype.kind == "f":
            value = value.astype(self.dtype)
        return self.module.shared(value, name=name)

    def state(self, value):
        """Return a shared variable that a scan starts with, and whose shape it keeps.

        PyTensor tells an axis of length 1 from one that may be longer, and a scan keeps to it.
        """
        if self.is_theano:
            return self.shared(value)
        value = numpy.asarray(value, self.dtype)
        return self.module.shared(value, shape=value.shape)

    def constant(self, value):
        """Return a constant of the workload's precision."""
        return self.tensor.constant(numpy.asarray(value, self.dtype))

    def sigmoid(self, x):
        """Return the logistic function of x."""
        return self.tensor.nnet.sigmoid(x) if self.is_theano else self.tensor.sigmoid(x)

    def softplus(self, x):
        """Return log(1 + exp(x))."""
        return self.tensor.nnet.softplus(x) if self.is_theano else self.tensor.softplus(x)

    def softmax(self, x):
        """Return the softmax of each row of a matrix."""
        if self.is_theano:
            return self.tensor.nnet.softmax(x)
        return self.tensor.special.softmax(x, axis=-1)

    def batched_dot(self, left, right):
        """Return the products of two stacks of matrices."""
        return self.framework.batched_dot(left, right)

    def grad(self, cost, parameters):
        """Return the gradients of a cost."""
        return self.tensor.grad(cost, parameters)

    def correlate_rows(self, wide, kernels, rows, width):
        """Convolve each row of `wide` (rows, 2 width - 1) with its row of `kernels` (rows, width).

        PyTensor has no convolution over batches of images and filters; it convolves the rows.
        """
        if self.framework.name == "pytensor":
            convolve = importlib.import_module("pytensor.tensor.signal").convolve1d
            pairs = [convolve(wide[i], kernels[i], mode="valid") for i in range(rows)]
            return self.tensor.stack(pairs, axis=0)
        nnet = importlib.import_module(self.framework.name + ".tensor.nnet")
        every = nnet.conv2d(
            wide.dimshuffle(0, "x", "x", 1),
            kernels.dimshuffle(0, "x", "x", 1),
            input_shape=(rows, 1, 1, 2 * width - 1),
            filter_shape=(rows, 1, 1, width),
            border_mode="valid",
        )
        # Every row is convolved with every kernel: its own is on the diagonal.
        own = self.tensor.arange(rows)
        return every[own, own, 0, :]

    def scan(self, step, name, **named):
        """Return (list of outputs, updates) of a scan, which has its own profile where wanted."""
        scan = self.module.scan
        scan = scan if callable(scan) else scan.scan
        if self.profile:
            named["profile"] = True
        if self.linker:
            named["mode"] = self.framework.mode(self.linker)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs, updates = scan(step, name=name, **named)
        return (outputs if isinstance(outputs, (list, tuple)) else [outputs]), updates

    def binomial(self, seed):
        """Return a function (shape, probabilities) -> zeros and ones drawn with them."""
        try:
            utils = importlib.import_module(self.framework.name + ".tensor.random.utils")
        except ImportError:
            # Theano up to 1.0; Theano-PyMC has the module that its heirs have.
            streams = importlib.import_module("theano.tensor.shared_randomstreams").RandomStreams
            source = streams(seed)
            return lambda shape, p: source.binomial(size=shape, n=1, p=p, dtype=self.dtype)
        source = utils.RandomStream(seed)
        return lambda shape, p: source.binomial(1, p, size=shape).astype(self.dtype)
