"""The rate of a float32 matrix product on the device: in Theano, and by its BLAS alone."""

from __future__ import absolute_import, division, print_function

import numpy
import pygpu
import pygpu.blas
import theano
from theano import tensor
from theano.gpuarray.type import get_context

from verify.blas.speed import CHECK_BLAS_CALLS, clock
from verify.device.report import LEAST_OF_BLAS

# The largest product that still takes less than this; check_blas takes ten of them.
LONGEST = 0.3
LARGEST = 5000
SIZES = (256, 512, 1024, 2048, LARGEST)
# The best turns of both count: where other programs disturb them, more are taken.
SAMPLES, MOST_SAMPLES = 5, 25


class Product(object):
    """C becomes 0.4 C + 0.8 A B, as in misc/check_blas.py: in Theano and by pygpu's gemm."""

    def __init__(self):
        self.a, self.b, self.c = (theano.shared(numpy.ones((1, 1), "float32")) for _ in range(3))
        product = numpy.float32(0.8) * tensor.dot(self.a, self.b)
        self.function = theano.function(
            [], updates=[(self.c, numpy.float32(0.4) * self.c + product)]
        )

    def resize(self, size):
        """Take matrices of another size, and warm up."""
        for variable in (self.a, self.b, self.c):
            variable.set_value(numpy.ones((size, size), "float32"))
        self.theano(1)
        self.alone(1)

    def theano(self, calls):
        """Return how long so many calls of Theano's function take."""
        start = clock()
        for _ in range(calls):
            self.function()
        self._wait()
        return clock() - start

    def alone(self, calls):
        """Return how long so many calls of the device's BLAS take, without Theano."""
        a, b, c = (
            variable.get_value(borrow=True, return_internal_type=True)
            for variable in (self.a, self.b, self.c)
        )
        start = clock()
        for _ in range(calls):
            pygpu.blas.gemm(0.8, a, b, 0.4, c, overwrite_c=True)
        c.sync()
        return clock() - start

    def _wait(self):
        self.c.get_value(borrow=True, return_internal_type=True).sync()


def measure():
    """Return the size, both rates in GFLOP/s turn by turn, and seconds of ten calls in Theano."""
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
            rates[name].append(2.0 * size**3 / getattr(product, name)(1) / 1e9)
    return {
        "size": size,
        "theano": rates["theano"],
        "alone": rates["alone"],
        "check_blas": product.theano(CHECK_BLAS_CALLS),
        "blas": blas_name(),
    }


def is_fast(rates):
    """Say whether Theano reaches what it should of the rate of the BLAS alone."""
    return max(rates["theano"]) >= LEAST_OF_BLAS * max(rates["alone"])


def blas_name():
    """Return the file that the device's products come from, as it is mapped, or `unknown`."""
    wanted = ("libcublas.so", "libclblast.so", "libclBLAS.so")
    with open("/proc/self/maps") as file:
        names = {line.split("/")[-1].strip() for line in file if "/" in line}
    found = sorted(name for name in names if name.startswith(wanted))
    return ", ".join(found) or "unknown"


def context_name():
    """Return what the library calls the device."""
    name = get_context(None).devname
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name
