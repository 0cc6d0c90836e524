"""Measure the peak rate of fused multiply-adds of this machine's processors."""

from __future__ import absolute_import, division, print_function

import ctypes
import threading

from verify.core import machine, native

INSTRUCTION_SETS = (0, 1, 2, 3)
# Seconds of measurement on each thread: to find the best instruction set, and to measure it.
TRIAL, MEASUREMENT = 0.02, 0.1


def load(compiler, folder):
    """Compile peak.c with the framework's compiler and return the loaded library.

    Raises native.NoCompilerError.
    """
    library = native.load(compiler, "verify.blas", "peak.c", folder)
    library.best_rate.restype = ctypes.c_double
    library.best_rate.argtypes = (
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_double,
        ctypes.c_double,
        ctypes.POINTER(ctypes.c_double),
    )
    return library


def gflops(library, dtype, threads, seconds=MEASUREMENT):
    """Return the GFLOP/s of the best instruction set, all threads together.

    seconds: of measurement on each thread.
    """

    def rate(isa, seconds):
        return _on_threads(library, dtype == "float32", isa, threads, seconds)

    return rate(best(library, dtype, threads), seconds)


def best(library, dtype, threads):
    """Return the instruction set whose rate on so many threads is the highest."""
    is_single = dtype == "float32"
    return max(
        INSTRUCTION_SETS, key=lambda isa: _on_threads(library, is_single, isa, threads, TRIAL)
    )


def rate_of(library, dtype, isa, threads, seconds):
    """Return the GFLOP/s of an instruction set, all threads together."""
    return _on_threads(library, dtype == "float32", isa, threads, seconds)


def _on_threads(library, single, isa, threads, seconds):
    rates = []

    def work():
        machine.unbind()
        sink = ctypes.c_double(0)
        rates.append(library.best_rate(int(single), isa, seconds, 0.0, ctypes.byref(sink)))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(rates) / 1e9
