"""How long things take here: import, compilation, matrix products."""

from __future__ import absolute_import, division, print_function

import time

import numpy

from verify.blas import kernels, library, peak
from verify.blas import operations as blas_operations
from verify.core import machine, progress
from verify.core.clock import monotonic
from verify.core.fixes import ldflags_fix
from verify.core.report import failed, passed, skipped, timing

CHECK_BLAS_CALLS = 10
LONGEST = 12.0
# A reference BLAS reaches 2 to 5 % of the peak, a good library 85 to 97 %, and the slowest
# kernels that a good one has for a foreign processor 35 to 65 %.
LEAST_SHARE = 0.30
GOOD_SHARE = 0.80
SAMPLES = 5
LARGER = 4000

clock = monotonic
processor_clock = time.process_time if hasattr(time, "process_time") else time.clock


def peaks(context):
    """Measure the FMA peak of both precisions, on one thread and on all; fill context.peaks.

    Raises native.NoCompilerError.
    """
    progress.note("measuring this machine's peak")
    kernel = peak.load(context.framework.flag("cxx"), context.folder)
    found = []
    for dtype in blas_operations.DTYPES:
        context.peaks[dtype] = {}
        for count in sorted({1, machine.usable_cores()}):
            rate = peak.gflops(kernel, dtype, count)
            context.peaks[dtype][count] = rate
            plural = "" if count == 1 else "s"
            found.append(timing("peak %s, %d thread%s" % (dtype, count, plural), "GFLOP/s", [rate]))
    return found


def products(context):
    """Time Gemm in both precisions, and the frameworks' own check_blas measure."""
    found = []
    for dtype in blas_operations.DTYPES:
        progress.note("timing Gemm %s" % dtype)
        update = _Update(context.framework, dtype)
        size, samples = _gemm_samples(update)
        rates = [2.0 * size**3 / seconds / 1e9 for seconds in samples]
        context.gemm[dtype] = list(rates)
        found.append(timing("Gemm %s %d" % (dtype, size), "GFLOP/s", rates))
        context.alone[dtype] = _alone(context, update, size)
        if context.full:
            more = _larger_samples(update, max(rates))
            context.gemm[dtype] += more
            found += [timing("Gemm %s %d" % (dtype, LARGER), "GFLOP/s", more)] if more else []
        if dtype == "float64":
            rate = 1e9 * max(rates)
            found += _check_blas(context, update, 2000, rate)
            if context.full:
                found += _check_blas(context, update, 5000, rate)
    return found


def numba_products(context):
    """Time the same product with PyTensor's default linker, numba; nothing elsewhere."""
    linker = str(context.framework.flag("linker"))
    if context.framework.name != "pytensor" or linker not in ("auto", "numba"):
        return []
    found = []
    for dtype in blas_operations.DTYPES:
        progress.note("timing Gemm %s with numba" % dtype)
        size, samples = _gemm_samples(_Update(context.framework, dtype, mode="NUMBA"))
        rates = [2.0 * size**3 / seconds / 1e9 for seconds in samples]
        found.append(timing("Gemm %s %d, numba" % (dtype, size), "GFLOP/s", rates))
    return found


class _Update(object):
    """The function that misc/check_blas.py times: C becomes 0.4 C + 0.8 A B."""

    def __init__(self, framework, dtype, mode=None):
        self.dtype = dtype
        shared = framework.module.shared
        self.a, self.b, self.c = (shared(numpy.ones((1, 1), dtype)) for _ in range(3))
        scalar = numpy.asarray
        product = scalar(0.8, dtype) * framework.tensor.dot(self.a, self.b)
        updates = [(self.c, scalar(0.4, dtype) * self.c + product)]
        if mode:
            self.run = framework.module.function([], [], updates=updates, mode=mode)
        else:
            self.run = framework.function([], [], updates=updates, profile=False)

    def resize(self, size):
        """Take matrices of another size, and warm up."""
        for variable in (self.a, self.b, self.c):
            variable.set_value(numpy.ones((size, size), self.dtype), borrow=True)
        self.run()

    def seconds(self, calls=1):
        """Return how long so many calls take."""
        start = clock()
        for _ in range(calls):
            self.run()
        return clock() - start


def _gemm_samples(update):
    size = 250
    update.resize(size)
    # A slow library gets a smaller problem, so that the suite ends in time on it as well.
    while size < 2000:
        if min(update.seconds(), update.seconds()) * 8 > 2.0:
            break
        size *= 2
        update.resize(size)
    return size, [update.seconds() for _ in range(SAMPLES)]


def _larger_samples(update, rate):
    if SAMPLES * 2.0 * LARGER**3 / (1e9 * rate) > 10 * LONGEST:
        return []
    update.resize(LARGER)
    return [2.0 * LARGER**3 / update.seconds() / 1e9 for _ in range(SAMPLES)]


def _alone(context, update, size):
    """Return GFLOP/s by processor time, on one thread where the library can be told to."""
    serving = context.serving
    told = serving and library.set_threads(serving.path, 1)
    samples = []
    for _ in range(3):
        start = processor_clock()
        update.run()
        samples.append(processor_clock() - start)
    if told and serving.threads:
        library.set_threads(serving.path, serving.threads)
    return 2.0 * size**3 / min(samples) / 1e9


def _check_blas(context, update, size, rate):
    expected = CHECK_BLAS_CALLS * 2.0 * size**3 / rate
    if expected > LONGEST * (20 if context.full else 1):
        progress.log("check_blas %d would take %.0f s here: left out" % (size, expected))
        return []
    progress.note("check_blas %d" % size)
    update.resize(size)
    return [timing("check_blas %d" % size, "s", [update.seconds(CHECK_BLAS_CALLS)])]


def share(context, dtype):
    """Return the best Gemm rate as a share of the peak of as many threads, or None."""
    if not context.peaks.get(dtype) or not context.gemm.get(dtype):
        return None
    cores = max(context.peaks[dtype])
    used = context.serving.threads if context.serving and context.serving.threads else cores
    highest = context.peaks[dtype][1 if used == 1 else cores]
    if 1 < used < cores:
        highest = highest * used / cores
    return max(context.gemm[dtype]) / highest


def check_speed(context, dtype):
    """Check that Gemm is not absurdly slow: far under what any library for this machine does.

    What is judged is processor time against one processor's peak, so that other programs on the
    machine cannot make it fail.
    """
    name = "Gemm %s speed" % dtype
    part = share(context, dtype)
    if part is None:
        return skipped(name, "no peak to compare with, or Gemm did not run")
    alone = context.alone[dtype] / context.peaks[dtype][1]
    detail = "%.1f GFLOP/s, %.0f %% of this machine's peak; a processor alone: %.0f %%" % (
        max(context.gemm[dtype]),
        100 * part,
        100 * alone,
    )
    if context.is_baseline:
        return passed(name, detail + "; the other variants are compared with this")
    if alone < LEAST_SHARE:
        return failed(
            name,
            detail + ", less than %.0f %%" % (100 * LEAST_SHARE),
            kernels.fix_if_slower(context.serving)
            or "this library is not made for this processor: " + ldflags_fix(context),
        )
    if alone < GOOD_SHARE:
        detail += " (a good library reaches %.0f %%)" % (100 * GOOD_SHARE)
    elif part < GOOD_SHARE:
        detail += " (other programs were using the machine, or its threads get in each other's way)"
    return passed(name, detail)
