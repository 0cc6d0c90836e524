"""Time a float32 matrix product on the device, by Theano and by the device's BLAS alone."""

from __future__ import absolute_import, division, print_function

import os

import numpy
import pygpu
import pygpu.blas
import theano
from theano import tensor

from verify.blas import bindings
from verify.blas.speed import CHECK_BLAS_CALLS, gemm_rate
from verify.core.clock import monotonic
from verify.device.report import LEAST_OF_BLAS

# Seconds. The size is the largest whose product takes less; check_blas takes ten of them.
LONGEST = 0.3
SIZES = (256, 512, 1024, 2048, 5000)
# The best of all turns counts: there are more where other programs disturb them.
SAMPLES, MOST_SAMPLES = 5, 25


class Product(object):
    """C = 0.4 C + 0.8 A B, as in misc/check_blas.py, by Theano and by pygpu's gemm."""

    def __init__(self):
        self.a, self.b, self.c = (theano.shared(numpy.ones((1, 1), "float32")) for _ in range(3))
        product = numpy.float32(0.8) * tensor.dot(self.a, self.b)
        self.function = theano.function(
            [], updates=[(self.c, numpy.float32(0.4) * self.c + product)]
        )

    def resize(self, size):
        """Set all matrices to ones of (size, size), and warm up."""
        for variable in (self.a, self.b, self.c):
            variable.set_value(numpy.ones((size, size), "float32"))
        self.theano(1)
        self.alone(1)

    def theano(self, calls):
        """Return the seconds that calls of Theano's function take."""
        start = monotonic()
        for _ in range(calls):
            self.function()
        self._wait()
        return monotonic() - start

    def alone(self, calls):
        """Return the seconds that calls of the device's BLAS take, without Theano."""
        a, b, c = (
            variable.get_value(borrow=True, return_internal_type=True)
            for variable in (self.a, self.b, self.c)
        )
        start = monotonic()
        for _ in range(calls):
            pygpu.blas.gemm(0.8, a, b, 0.4, c, overwrite_c=True)
        c.sync()
        return monotonic() - start

    def _wait(self):
        self.c.get_value(borrow=True, return_internal_type=True).sync()


def measure():
    """Return the size, the rates of all turns in GFLOP/s, the seconds of check_blas, the BLAS."""
    product, size = Product(), SIZES[0]
    for size in SIZES:
        product.resize(size)
        following = SIZES[min(SIZES.index(size) + 1, len(SIZES) - 1)]
        if product.theano(1) * (following / float(size)) ** 3 > LONGEST:
            break
    rates = {"theano": [], "alone": []}
    for turn in range(MOST_SAMPLES):
        if turn >= SAMPLES and is_fast(rates):
            break
        for name in sorted(rates):
            rates[name].append(gemm_rate(size, getattr(product, name)(1)))
    return {
        "size": size,
        "theano": rates["theano"],
        "alone": rates["alone"],
        "check_blas": product.theano(CHECK_BLAS_CALLS),
        "blas": blas_name(),
    }


def is_fast(rates):
    """Say whether Theano reaches LEAST_OF_BLAS of the rate of the BLAS alone."""
    return max(rates["theano"]) >= LEAST_OF_BLAS * max(rates["alone"])


def blas_name():
    """Return the file name of the device's BLAS that is loaded, or `unknown`."""
    prefixes = ("libcublas.so", "libclblast.so", "libclBLAS.so")
    names = {os.path.basename(path) for path in bindings.mapped_files()}
    return ", ".join(sorted(name for name in names if name.startswith(prefixes))) or "unknown"
