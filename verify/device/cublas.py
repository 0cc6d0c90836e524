"""A matrix product by cuBLAS alone, called from Python."""

from __future__ import absolute_import, division, print_function

import contextlib
import ctypes

import numpy

from verify.core.portable import monotonic

# cublasOperation_t: not transposed.
AS_IT_IS = 0
FUNCTIONS = {
    "float32": ("cublasSgemm_v2", ctypes.c_float),
    "float64": ("cublasDgemm_v2", ctypes.c_double),
}
# CUDA_ERROR_OUT_OF_MEMORY, CUBLAS_STATUS_ALLOC_FAILED.
SHORT_MEMORY = {"cuMemAlloc": 2, "cublasCreate": 3}


class CudaError(Exception):
    """A function of CUDA returned an error."""


class Product(object):
    """C = 0.4 C + 0.8 A B of square matrices on a GPU.

    It has matrices, a stream and a handle of cuBLAS of its own: nothing of libgpuarray's takes
    part.
    """

    def __init__(self, number, a, b, c):
        """Copy the matrices to the GPU of a number. Raises CudaError, as if memory is short."""
        name, scalar = FUNCTIONS[str(a.dtype)]
        self._driver, self._library = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcublas.so")
        self._gemm = getattr(self._library, name)
        self._context, self._handle, self._matrices = ctypes.c_void_p(), ctypes.c_void_p(), []
        self._factors = scalar(0.8), scalar(0.4)
        self._size, self._device = ctypes.c_int(a.shape[0]), ctypes.c_int()
        _check("cuDeviceGet", self._driver.cuDeviceGet(ctypes.byref(self._device), number))
        retained = self._driver.cuDevicePrimaryCtxRetain(ctypes.byref(self._context), self._device)
        _check("cuDevicePrimaryCtxRetain", retained)
        try:
            with _entered(self._driver, self._context):
                created = self._library.cublasCreate_v2(ctypes.byref(self._handle))
                _check("cublasCreate", created)
                # cuBLAS counts by columns: the product of the others, transposed.
                for matrix in (b, a, c):
                    self._copy(numpy.ascontiguousarray(matrix))
        except CudaError:
            self.close()
            raise

    def _copy(self, matrix):
        pointer, size = ctypes.c_uint64(), ctypes.c_size_t(matrix.nbytes)
        _check("cuMemAlloc", self._driver.cuMemAlloc_v2(ctypes.byref(pointer), size))
        self._matrices.append(pointer)
        data = matrix.ctypes.data_as(ctypes.c_void_p)
        _check("cuMemcpyHtoD", self._driver.cuMemcpyHtoD_v2(pointer, data, size))

    def seconds(self, calls):
        """Return the seconds that calls take, all of them computed. Raises CudaError."""
        b, a, c = self._matrices
        n, (alpha, beta) = self._size, map(ctypes.byref, self._factors)
        arguments = [self._handle, AS_IT_IS, AS_IT_IS, n, n, n, alpha, b, n, a, n, beta, c, n]
        with _entered(self._driver, self._context):
            _check("cuCtxSynchronize", self._driver.cuCtxSynchronize())
            start = monotonic()
            for _ in range(calls):
                _check("cublasGemm", self._gemm(*arguments))
            _check("cuCtxSynchronize", self._driver.cuCtxSynchronize())
            return monotonic() - start

    def close(self):
        """Give back the GPU's memory."""
        with _entered(self._driver, self._context):
            for pointer in self._matrices:
                self._driver.cuMemFree_v2(pointer)
            if self._handle:
                self._library.cublasDestroy_v2(self._handle)
        # Before CUDA 11 it has the shorter name only.
        release = getattr(self._driver, "cuDevicePrimaryCtxRelease_v2", None)
        (release or self._driver.cuDevicePrimaryCtxRelease)(self._device)


@contextlib.contextmanager
def _entered(driver, context):
    """Make a context the current one for a block."""
    _check("cuCtxPushCurrent", driver.cuCtxPushCurrent_v2(context))
    try:
        yield
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def _check(name, status):
    if status != 0:
        reason = ": OUT_OF_MEMORY" if SHORT_MEMORY.get(name) == status else ""
        raise CudaError("%s returned %d%s" % (name, status, reason))
