"""Time matrix products on the device, by Theano and by the device's BLAS alone."""

from __future__ import absolute_import, division, print_function

import os

import numpy
import pygpu
import pygpu.blas
import theano
from theano import tensor

from verify.blas import bindings
from verify.blas.speed import CHECK_BLAS_CALLS, gemm_rate
from verify.core.portable import monotonic
from verify.device import cublas, drivers
from verify.device.report import LEAST_OF_BLAS

# Seconds. The size is the largest whose product takes less; check_blas takes ten of them.
LONGEST = 0.3
SIZES = (256, 512, 1024, 2048, 5000)
# Of --full and of the bench, in both precisions, those that take less than LONGEST. To fill
# the largest takes seconds.
ALL_SIZES, QUICK_SIZES = (1000, 2000, 5000, 10000), (1000, 5000)
# The best of all turns counts: there are more where other programs disturb them.
SAMPLES, MOST_SAMPLES = 5, 25
# Seconds. A turn takes at least so long, so that the clock and the wait at its end do not count.
LEAST = 0.02


class Product(object):
    """C = 0.4 C + 0.8 A B, as in misc/check_blas.py, by Theano and by the device's BLAS alone."""

    def __init__(self, dtype="float32"):
        self.dtype, self.size = dtype, None
        self.a, self.b, self.c = (theano.shared(numpy.ones((1, 1), dtype)) for _ in range(3))
        scalar = numpy.dtype(dtype).type
        product = scalar(0.8) * tensor.dot(self.a, self.b)
        self.function = theano.function([], updates=[(self.c, scalar(0.4) * self.c + product)])
        self._alone = None

    def resize(self, size):
        """Set all matrices to random numbers of (size, size), and warm up."""
        self.close()
        self.size = size
        random = numpy.random.RandomState(0)
        values = [random.uniform(-1, 1, (size, size)).astype(self.dtype) for _ in range(3)]
        for variable, value in zip((self.a, self.b, self.c), values):
            variable.set_value(value)
        if on_cuda():
            self._alone = cublas.Product(drivers.cuda_number_opened(), *values)
        self.theano(1)
        self.alone(1)

    def close(self):
        """Give back the memory of the BLAS alone."""
        if self._alone:
            self._alone.close()
        self._alone = None

    def theano(self, calls):
        """Return the seconds that calls of Theano's function take."""
        start = monotonic()
        for _ in range(calls):
            self.function()
        self.c.get_value(borrow=True, return_internal_type=True).sync()
        return monotonic() - start

    def alone(self, calls):
        """Return the seconds that calls of the device's BLAS take, without Theano.

        cuBLAS is called directly, CLBlast by pygpu.
        """
        if self._alone:
            return self._alone.seconds(calls)
        a, b, c = (
            variable.get_value(borrow=True, return_internal_type=True)
            for variable in (self.a, self.b, self.c)
        )
        start = monotonic()
        for _ in range(calls):
            pygpu.blas.gemm(0.8, a, b, 0.4, c, overwrite_c=True)
        c.sync()
        return monotonic() - start

    def takes(self, size):
        """Return whether the device has room for both products, and time, as the size before shows.

        OpenCL has no figure of the memory.
        """
        needed = 6 * numpy.dtype(self.dtype).itemsize * size**2
        if on_cuda() and theano.gpuarray.get_context(None).free_gmem <= 1.2 * needed:
            return False
        last = self.size
        return not last or self.theano(1) * (size / float(last)) ** 3 <= LONGEST

    def rates(self):
        """Return {`theano`, `alone`: GFLOP/s of each turn} at the size that was set."""
        rates = {"theano": [], "alone": []}
        calls = max(1, int(LEAST / self.theano(1)))
        for turn in range(MOST_SAMPLES):
            if turn >= SAMPLES and is_fast(rates):
                break
            for name in sorted(rates):
                rates[name].append(gemm_rate(self.size, getattr(self, name)(calls) / calls))
        return rates


def measure():
    """Return the size, the rates of all turns in GFLOP/s, the seconds of check_blas, the BLAS.

    The size is the largest of SIZES whose product takes less than LONGEST.
    """
    product = Product()
    for size in SIZES:
        if product.size and not product.takes(size):
            break
        product.resize(size)
    result = dict(
        product.rates(),
        size=product.size,
        check_blas=product.theano(CHECK_BLAS_CALLS),
        blas=blas_name(),
    )
    product.close()
    return result


def products(sizes=ALL_SIZES):
    """Return [{dtype, size, theano, alone}] of the sizes in both precisions, rates as above.

    The first size is taken however long it takes; none is that the device has no memory for.
    """
    results = []
    for dtype in ("float32", "float64"):
        product = Product(dtype)
        for size in sizes:
            if not product.takes(size):
                break
            product.resize(size)
            results.append(dict(product.rates(), dtype=dtype, size=size))
        product.close()
    return results


def on_cuda():
    """Return whether Theano's device is one of CUDA."""
    return theano.config.device.startswith("cuda")


def is_fast(rates):
    """Return whether Theano reaches LEAST_OF_BLAS of the rate of the BLAS alone."""
    return max(rates["theano"]) >= LEAST_OF_BLAS * max(rates["alone"])


def blas_name():
    """Return the file name of the device's BLAS that is loaded, or `unknown`."""
    prefixes = ("libcublas.so", "libclblast.so", "libclBLAS.so")
    names = {os.path.basename(path) for path in bindings.mapped_files()}
    return ", ".join(sorted(name for name in names if name.startswith(prefixes))) or "unknown"
