"""Time matrix products, and compare them with the peak of this machine's processors."""

from __future__ import absolute_import, division, print_function

import time

import numpy

from verify.blas import kernels, library, peak
from verify.blas import operations as blas_operations
from verify.blas.threads_probe import RUSAGE_THREAD, processor_time
from verify.core import machine, progress
from verify.core.clock import monotonic, until_steady
from verify.core.fixes import library_fix
from verify.core.report import failed, measured, passed, skipped, speed_text, timing

CHECK_BLAS_CALLS = 10
# Seconds that check_blas may take; with --full, twenty times as many.
LONGEST = 12.0
# A reference BLAS reaches 2 to 5 % of the peak, a good library 85 to 97 %, and its slowest kernels,
# for another processor, 35 to 65 %.
LEAST_SHARE = 0.30
GOOD_SHARE = 0.80
# More than the peak and its noise.
MOST_SHARE = 1.05
SAMPLES = 5
LARGER = 4000

processor_clock = time.process_time if hasattr(time, "process_time") else time.clock


def peaks(context):
    """Measure the FMA peak of both precisions, on one thread and on all; fill context.peaks.

    Raises native.NoCompilerError.
    """
    progress.note("measuring this machine's peak")
    kernel = peak.load(context.framework.flag("cxx"), context.folder)
    timings = []
    for dtype in blas_operations.DTYPES:
        context.peaks[dtype] = {}
        for count in sorted({1, machine.usable_cores()}):
            rate = peak.gflops(kernel, dtype, count)
            context.peaks[dtype][count] = rate
            name = "peak %s, %d thread%s" % (dtype, count, "" if count == 1 else "s")
            timings.append(timing(name, "GFLOP/s", [rate]))
    return timings


def products(context):
    """Time Gemm in both precisions, and ten calls as misc/check_blas.py does.

    Fills context.gemm and context.alone.
    """
    timings = []
    for dtype in blas_operations.DTYPES:
        progress.note("timing Gemm %s" % dtype)
        in_numpy = context.framework.name == "numpy"
        update = NumPyProduct(dtype) if in_numpy else GemmUpdate(context.framework, dtype)
        size, rates = _gemm_rates(update)
        context.gemm[dtype] = list(rates)
        timings.append(timing("Gemm %s %d" % (dtype, size), "GFLOP/s", rates))
        context.alone[dtype] = _one_thread_rate(context, update, size)
        if context.full:
            more = _larger_rates(update, max(rates))
            context.gemm[dtype] += more
            timings += [timing("Gemm %s %d" % (dtype, LARGER), "GFLOP/s", more)] if more else []
        if dtype == "float64" and not in_numpy:
            rate = 1e9 * max(rates)
            counted = rates if size == 2000 else []
            timings += _check_blas(context, update, 2000, rate, counted)
            if context.full:
                timings += _check_blas(context, update, 5000, rate)
    return timings


def numba_products(context):
    """Time Gemm with PyTensor's default linker, numba; return [] where it is not in use."""
    if not context.framework.runs_numba:
        return []
    timings = []
    for dtype in blas_operations.DTYPES:
        progress.note("timing Gemm %s with numba" % dtype)
        size, rates = _gemm_rates(GemmUpdate(context.framework, dtype, mode="NUMBA"))
        timings.append(timing("Gemm %s %d, numba" % (dtype, size), "GFLOP/s", rates))
    return timings


class GemmUpdate(object):
    """The function that the frameworks' misc/check_blas.py times: C = 0.4 C + 0.8 A B.

    mode: name of the framework's mode to compile with; None: that of LoadedFramework.function.
    """

    def __init__(self, framework, dtype, mode=None):
        self.dtype = dtype
        shared = framework.module.shared
        self.matrices = [shared(numpy.ones((1, 1), dtype)) for _ in range(3)]
        a, b, c = self.matrices
        scalar = numpy.asarray
        product = scalar(0.8, dtype) * framework.tensor.dot(a, b)
        updates = [(c, scalar(0.4, dtype) * c + product)]
        if mode:
            self.run = framework.module.function([], [], updates=updates, mode=mode)
        else:
            self.run = framework.function([], [], updates=updates, profile=False)

    def resize(self, size):
        """Set all matrices to ones of (size, size), and warm up."""
        for variable in self.matrices:
            variable.set_value(numpy.ones((size, size), self.dtype), borrow=True)
        self.run()

    def seconds(self, calls=1):
        """Return the seconds that the calls take."""
        start = monotonic()
        for _ in range(calls):
            self.run()
        return monotonic() - start


class NumPyProduct(GemmUpdate):
    """The product of two matrices by NumPy, without a framework: C = A B."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.matrices = []

    def resize(self, size):
        """Set all matrices to ones of (size, size), and warm up."""
        self.matrices = [numpy.ones((size, size), self.dtype) for _ in range(3)]
        self.run()

    def run(self):
        """Multiply once."""
        a, b, c = self.matrices
        numpy.dot(a, b, out=c)


def gemm_rate(size, seconds):
    """Return the GFLOP/s of a product of two (size, size) matrices that takes so many seconds."""
    return 2.0 * size**3 / seconds / 1e9


def _gemm_rates(update):
    """Return (size, GFLOP/s of each call)."""
    size = 250
    update.resize(size)
    # A slow library gets smaller matrices, so that the suite does not take hours.
    while size < 2000:
        if min(update.seconds(), update.seconds()) * 8 > 2.0:
            break
        size *= 2
        update.resize(size)
    return size, [gemm_rate(size, update.seconds()) for _ in range(SAMPLES)]


def _larger_rates(update, rate):
    if SAMPLES * 2.0 * LARGER**3 / (1e9 * rate) > 10 * LONGEST:
        return []
    update.resize(LARGER)
    return [gemm_rate(LARGER, update.seconds()) for _ in range(SAMPLES)]


def _one_thread_rate(context, update, size):
    """Return GFLOP/s by processor time, on one thread where the number can be set."""
    serving = context.serving
    is_set = serving and library.set_threads(serving.path, 1)

    # Where the number is set, not that of all threads: idle ones may wait in a loop.
    clock = _thread_clock if is_set else processor_clock

    def seconds():
        start = clock()
        update.run()
        return clock() - start

    samples = until_steady(seconds, 3)
    if is_set and serving.threads:
        library.set_threads(serving.path, serving.threads)
    return gemm_rate(size, min(samples))


def _thread_clock():
    return processor_time(RUSAGE_THREAD)


def _check_blas(context, update, size, rate, counted=()):
    """Return the time of ten calls, or nothing where they take too long.

    rate: the expected FLOP/s. counted: GFLOP/s of calls that were timed already, which count.
    """
    expected = CHECK_BLAS_CALLS * 2.0 * size**3 / rate
    if expected > LONGEST * (20 if context.full else 1):
        progress.log("check_blas %d would take %.0f s here: left out" % (size, expected))
        return []
    progress.note("check_blas %d" % size)
    update.resize(size)
    seconds = [2e-9 * size**3 / each for each in counted]
    total = sum(seconds) + update.seconds(CHECK_BLAS_CALLS - len(seconds))
    return [timing("check_blas %d" % size, "s", [total])]


def share(context, dtype):
    """Return the best Gemm rate as a share of the peak of its number of threads, or None."""
    if not context.peaks.get(dtype) or not context.gemm.get(dtype):
        return None
    cores = max(context.peaks[dtype])
    used = context.serving.threads if context.serving and context.serving.threads else cores
    highest = context.peaks[dtype][1 if used == 1 else cores]
    if 1 < used < cores:
        # Fewer threads than processors have a core each: hyperthreads share one.
        highest = min(highest, used * context.peaks[dtype][1])
    return max(context.gemm[dtype]) / highest


def check_speed(context, dtype):
    """Check that Gemm on one thread reaches LEAST_SHARE of a processor's peak.

    It compares processor time, so that other programs on the machine cannot make it fail.
    """
    name = "Gemm %s speed" % dtype
    reached = share(context, dtype)
    if reached is None:
        return skipped(name, "no peak to compare with, or Gemm did not run")
    alone = context.alone[dtype] / context.peaks[dtype][1]
    speed = measured(max(context.gemm[dtype]), reached)
    detail = "%s; a processor alone: %.0f %%" % (speed_text(speed), 100 * alone)
    if context.is_baseline:
        detail += "; the other variants are compared with this"
        return passed(name, detail)._replace(speed=speed)
    if alone < LEAST_SHARE:
        return failed(
            name,
            detail + ", less than %.0f %%" % (100 * LEAST_SHARE),
            kernels.fix_if_slower(context.serving) or library_fix(context),
        )._replace(speed=speed)
    remarks = []
    is_peak_low = max(reached, alone) > MOST_SHARE
    if is_peak_low:
        remarks.append("the peak is too low: other programs used the machine; verify again")
    if alone < GOOD_SHARE:
        remarks.append("a good library reaches %.0f %%" % (100 * GOOD_SHARE))
    # Of a library that is slower by itself, a little less is noise.
    is_slower_together = reached < (0.75 * alone if remarks else GOOD_SHARE)
    if is_slower_together:
        remarks.append("other programs used the machine, or the threads disturb one another")
    detail += " (%s)" % "; ".join(remarks) if remarks else ""
    speed = measured(speed["gflops"], reached, remarks, bool(is_peak_low or is_slower_together))
    return passed(name, detail)._replace(speed=speed)
