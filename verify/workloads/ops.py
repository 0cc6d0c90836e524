"""The case of a workload, and operations whose names or signatures differ between frameworks."""

from __future__ import absolute_import, division, print_function

import argparse
import collections
import functools
import importlib

import numpy

# {name: size} of a workload, by attributes.
Sizes = argparse.Namespace
FUNCTIONS = ("sigmoid", "softplus", "softmax")


class Ops(object):
    """The operations of the workloads, for one framework and precision.

    profile: whether scans keep profiles; linker: of scans, by default the framework's choice;
    static: whether the graph fixes all shapes, without which JAX compiles neither slices nor scans.
    """

    def __init__(self, framework, dtype, profile, linker=None, static=False):
        self.framework = framework
        self.linker = linker
        self.static = static
        self.tensor = framework.tensor
        self.dtype = dtype
        self.profile = profile
        # Constants and means get this precision; some would be float64 else.
        framework.config.floatX = dtype
        self.module = framework.module
        self.batched_dot = framework.batched_dot
        functions = [functools.partial(framework.apply, name) for name in FUNCTIONS]
        self.sigmoid, self.softplus, self.softmax = functions

    def shared(self, value, name=None, is_static=False):
        """Return a shared variable; floats get the workload's precision."""
        value = numpy.asarray(value)
        if value.dtype.kind == "f":
            value = value.astype(self.dtype)
        shape = {"shape": value.shape} if self.static or is_static else {}
        return self.module.shared(value, name=name, **shape)

    def state(self, value):
        """Return a shared variable of fixed shape, for the initial state of a scan.

        PyTensor's scan requires that a state is broadcastable on the same axes in every step.
        """
        return self.shared(value, is_static=self.framework.name != "theano")

    def minibatch(self, arrays, number, size):
        """Return the `size` rows of each shared array from row `number` * `size` on, both symbolic.

        JAX has no slices between symbolic bounds: there the array is divided beforehand.
        """
        if not self.static:
            part = slice(number * size, (number + 1) * size)
            return [array[part] for array in arrays]
        shapes = [array.type.shape for array in arrays]
        return [
            array.reshape((shape[0] // size, size) + tuple(shape[1:]))[number]
            for array, shape in zip(arrays, shapes)
        ]

    def constant(self, value):
        """Return a constant of the workload's precision."""
        return self.tensor.constant(numpy.asarray(value, self.dtype))

    def correlate_rows(self, wide, kernels, rows, width):
        """Convolve each row of `wide` (rows, 2 width - 1) with its row of `kernels` (rows, width).

        PyTensor has no convolution over batches of images and filters; it convolves the rows.
        """
        if self.framework.name == "pytensor":
            convolve = importlib.import_module("pytensor.tensor.signal").convolve1d
            pairs = [convolve(wide[i], kernels[i], mode="valid") for i in range(rows)]
            return self.tensor.stack(pairs, axis=0)
        nnet = importlib.import_module(self.framework.name + ".tensor.nnet")
        products = nnet.conv2d(
            wide.dimshuffle(0, "x", "x", 1),
            kernels.dimshuffle(0, "x", "x", 1),
            input_shape=(rows, 1, 1, 2 * width - 1),
            filter_shape=(rows, 1, 1, width),
        )
        # Each row is convolved with each kernel: the results with its own are on the diagonal.
        diagonal = self.tensor.arange(rows)
        return products[diagonal, diagonal, 0, :]

    def convolve(self, images, filters, image_shape, filter_shape):
        """Convolve images (batch, channels, height, width) with filters, where they overlap fully.

        PyTensor has no such operation: there the patches are multiplied with the filters.
        """
        if self.framework.name != "pytensor":
            nnet = importlib.import_module(self.framework.name + ".tensor.nnet")
            return nnet.conv2d(images, filters, input_shape=image_shape, filter_shape=filter_shape)
        count, channels, rows, columns = filter_shape
        batch, _, height, width = image_shape
        height, width = height - rows + 1, width - columns + 1
        # The last pixel of a patch meets the first of a filter.
        shifted = [
            images[:, :, row : row + height, column : column + width]
            for row in reversed(range(rows))
            for column in reversed(range(columns))
        ]
        patches = self.tensor.stack(shifted, axis=2).dimshuffle(0, 3, 4, 1, 2)
        patches = patches.reshape((batch * height * width, channels * rows * columns))
        products = self.tensor.dot(patches, filters.reshape((count, channels * rows * columns)).T)
        return products.reshape((batch, height, width, count)).dimshuffle(0, 3, 1, 2)

    def max_pool(self, images, size):
        """Return the largest pixel of each square of size x size; a rest at the border is lost."""
        if self.framework.name != "pytensor":
            pool = importlib.import_module(self.framework.name + ".tensor.signal.pool")
            return pool.pool_2d(images, (size, size), ignore_border=True)
        # PyTensor has no pooling either.
        height, width = images.shape[2] // size, images.shape[3] // size
        cut = images[:, :, : height * size, : width * size]
        squares = cut.reshape((images.shape[0], images.shape[1], height, size, width, size))
        return squares.max(axis=(3, 5))

    def scan(self, step, name, **options):
        """Return ([output], [(shared variable, update)]) of a scan; options: further arguments."""
        if self.profile:
            options["profile"] = True
        if self.linker:
            options["mode"] = self.framework.mode(self.linker)
        return self.framework.scan(step, name=name, **options)

    def binomial(self, seed):
        """Return a function (shape, probabilities) -> random zeros and ones."""
        try:
            utils = importlib.import_module(self.framework.name + ".tensor.random.utils")
        except ImportError:
            # Theano up to 1.0. Theano-PyMC and later frameworks have the module above.
            streams = importlib.import_module("theano.tensor.shared_randomstreams").RandomStreams
            source = streams(seed)
            return lambda shape, p: source.binomial(size=shape, n=1, p=p, dtype=self.dtype)
        source = utils.RandomStream(seed)
        return lambda shape, p: source.binomial(1, p, size=shape).astype(self.dtype)


# output: symbolic scalar, for a comparison of environments, or None; updates: of shared variables;
# shape: {name: size}, for the report; flops: floating-point operations of a call, or None;
# slow: the name of the case that computes the same the slow way, or None; excluding: names of
# optimisations that it is compiled without; allow_gc: whether its function frees results early.
Model = collections.namedtuple("Model", "name output updates shape flops slow excluding allow_gc")
Model.__new__.__defaults__ = (None, None, (), True)
