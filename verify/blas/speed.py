"""Time matrix products, and compare them with the peak of this machine's processors."""

from __future__ import absolute_import, division, print_function

import numpy

from verify.blas import kernels, library
from verify.blas import operations as blas_operations
from verify.blas.threads import RUSAGE_THREAD, processor_time
from verify.core import machine, progress
from verify.core.fixes import library_fix
from verify.core.portable import seconds_of, until_steady
from verify.core.report import failed, passed, skipped, speed_text, timing

CHECK_BLAS_CALLS = 10
# Seconds that check_blas may take; with --full, twenty times as many.
LONGEST = 12.0
# A reference BLAS reaches 2 to 5 % of the peak, a good library 85 to 97 %, and its slowest kernels,
# for another processor, 35 to 65 %.
LEAST_SHARE = 0.30
GOOD_SHARE = 0.80
# More than the peak and its noise: then the peak is measured again, at most so often.
MOST_SHARE, REPEATS = 1.03, 4
# Of the best pair's share, the least of another pair's; below, nothing is said of the library.
NOISY = 0.6
# Pairs of a product and the peak, and the seconds of the peak in a pair, on each thread.
SAMPLES, PAIRED = 5, 0.04
LARGER = 4000


def products(context):
    """Time Gemm in both precisions, and ten calls as misc/check_blas.py does.

    Fills context.gemm and context.alone.
    """
    timings = []
    for dtype in blas_operations.DTYPES:
        progress.note("timing Gemm %s" % dtype)
        in_numpy = context.framework.name == "numpy"
        update = NumPyProduct(dtype) if in_numpy else GemmUpdate(context.framework, dtype)
        size = _gemm_size(update)
        rates = _in_pairs(context, update, size, dtype)
        context.gemm[dtype] = list(rates)
        timings.append(timing("Gemm %s %d" % (dtype, size), "GFLOP/s", rates))
        context.alone[dtype] = _one_thread_rate(context, update, size, dtype)
        # Where the calls would not take too long.
        if context.full and SAMPLES * 0.2e-9 * LARGER**3 / max(rates) <= LONGEST:
            update.resize(LARGER)
            more = update.rates(LARGER)
            context.gemm[dtype] += more
            timings.append(timing("Gemm %s %d" % (dtype, LARGER), "GFLOP/s", more))
        if dtype == "float64" and not in_numpy:
            counted = rates if size == 2000 else []
            timings += _check_blas(context, update, 2000, max(rates), counted)
            if context.full:
                timings += _check_blas(context, update, 5000, max(rates))
    return timings


def numba_products(context):
    """Time Gemm in float64 with PyTensor's default linker, numba; return [] if it is not in use.

    float32 calls the same library, and numba would compile for another 15 s.
    """
    if not context.framework.runs_numba:
        return []
    dtype = blas_operations.DTYPES[0]
    progress.note("timing Gemm %s with numba" % dtype)
    update = by_numba(context, dtype)
    # It calls the library that the C linker's product has called, or NumPy's.
    size = _gemm_size(update)
    return [timing("Gemm %s %d, numba" % (dtype, size), "GFLOP/s", update.rates(size))]


def _gemm_size(update):
    """Return the size of the matrices to time: a slow library gets smaller ones."""
    size = 250
    update.resize(size)
    while size < 2000 and min(update.seconds(), update.seconds()) * 8 <= 2.0:
        size *= 2
        update.resize(size)
    return size


def _in_pairs(context, update, size, dtype):
    """Return the GFLOP/s of some calls, each right before a measurement of the peak.

    Fills context.shares and context.reasons; sets the peak to that of the best pair, whose share
    is the result. Within a pair both have the same machine, whatever else runs there.
    """
    if not context.peaks.get(dtype):
        return update.rates(size)
    threads = kernels.threads_used(context)
    pair = _pairing(context, dtype, threads)
    before = machine.counters()
    pairs = [pair(gemm_rate(size, update.seconds())) for _ in range(SAMPLES)]
    context.reasons[dtype] = machine.noise_reasons(before, machine.counters())
    context.shares[dtype] = [share for share, _, _ in pairs]
    context.peaks[dtype][threads] = max(pairs)[2]
    return [rate for _, rate, _ in pairs]


def _pairing(context, dtype, threads):
    """Return a function that measures the peak after a product's rate: (share, rate, peak)."""
    isa = context.peak_sets[dtype, threads]

    def pair(rate):
        for _ in range(REPEATS):
            highest = kernels.rate_of(context.peak_kernel, dtype, isa, threads, PAIRED)
            # More than the peak: something has disturbed its measurement.
            if rate <= MOST_SHARE * highest:
                break
        return rate / highest, rate, highest

    return pair


def _one_thread_rate(context, update, size, dtype):
    """Return GFLOP/s by processor time, on one thread where the number can be set.

    Sets the peak of one thread to that of the best pair.
    """
    serving = context.serving
    is_set = serving and library.set_threads(serving.path, 1)

    def rate():
        # Where the number is set, not that of all threads: idle ones may wait in a loop.
        clock = (lambda: processor_time(RUSAGE_THREAD)) if is_set else processor_time
        start = clock()
        update.run()
        return gemm_rate(size, clock() - start)

    has_peak = bool(context.peaks.get(dtype))
    pair, pairs = _pairing(context, dtype, 1) if has_peak else (lambda rate: (rate, rate, None)), []

    def sample():
        pairs.append(pair(rate()))
        return 1 / pairs[-1][0]

    until_steady(sample, 3)
    if is_set and serving.threads:
        library.set_threads(serving.path, serving.threads)
    _, best, highest = max(pairs)
    if has_peak:
        context.peaks[dtype][1] = highest
    return best


def _check_blas(context, update, size, rate, counted=()):
    """Return the time of ten calls, or nothing where they take too long.

    rate: the expected GFLOP/s. counted: those of calls that were timed already, which count.
    """
    one = 2e-9 * size**3
    expected = CHECK_BLAS_CALLS * one / rate
    if expected > LONGEST * (20 if context.full else 1):
        progress.log("check_blas %d would take %.0f s here: left out" % (size, expected))
        return []
    progress.note("check_blas %d" % size)
    if not counted:
        update.resize(size)
    total = sum(one / each for each in counted) + update.seconds(CHECK_BLAS_CALLS - len(counted))
    return [timing("check_blas %d" % size, "s", [total])]


def check_speed(context, dtype):
    """Check that Gemm on one thread reaches LEAST_SHARE of a processor's peak.

    It compares processor time, so that other programs on the machine cannot make it fail.
    """
    name = "Gemm %s speed" % dtype
    shares = context.shares.get(dtype)
    if not shares:
        has_peak = bool(context.peaks.get(dtype))
        return skipped(name, "Gemm did not run" if has_peak else "no peak to compare with")
    reached, reasons = max(shares), context.reasons.get(dtype) or []
    alone = context.alone[dtype] / context.peaks[dtype][1]
    varies = min(shares) < NOISY * reached
    # A low share beside something that took time says nothing of the library.
    is_unclear = varies or reached > MOST_SHARE or bool(reasons and reached < GOOD_SHARE)
    rate, remarks = max(context.gemm[dtype]), []
    speed = {"gflops": rate, "share": reached, "least": min(shares)}
    speed.update(remarks=remarks, disturbed=is_unclear)
    detail = "%s; a processor alone: %.0f %%" % (speed_text(speed), 100 * alone)
    if context.is_baseline:
        detail += "; the other variants are compared with this"
        return passed(name, detail)._replace(speed=speed)
    if alone < LEAST_SHARE:
        detail += ", less than %.0f %%" % (100 * LEAST_SHARE)
        fix = kernels.fix_if_slower(context.serving) or library_fix(context)
        return failed(name, detail, fix)._replace(speed=speed)
    if alone < GOOD_SHARE and not is_unclear:
        remarks.append("a good library reaches %.0f %%" % (100 * GOOD_SHARE))
    # Of a library that is slower by itself, a little less is noise.
    if reached < (0.75 * alone if remarks else GOOD_SHARE) or is_unclear:
        threads = kernels.threads_used(context)
        # Where no other reason is seen, a comparison with one thread is one.
        if not reasons and threads > 1 and not varies and reached < 0.9 * alone:
            words = (threads, rate / context.alone[dtype])
            reasons = ["its %d threads compute %.1f times as fast as one" % words]
        remarks += reasons
    detail += " (%s)" % "; ".join(remarks) if remarks else ""
    return passed(name, detail)._replace(speed=speed)


def by_numba(context, dtype):
    """Return the GemmUpdate of PyTensor's numba linker, which is compiled at the first request."""
    key = "Gemm by numba", dtype
    if key not in context.operations:
        progress.note("compiling Gemm %s with numba" % dtype)
        update = GemmUpdate(context.framework, dtype, mode="NUMBA")
        update.run()
        context.operations[key] = update
    return context.operations[key]


def product_of(framework, dtype, size):
    """Return (shared matrices of ones, updates) of C = 0.4 C + 0.8 A B, for a framework or Ops."""
    ones, scalar = numpy.ones((size, size), dtype), numpy.asarray
    a, b, c = matrices = [framework.module.shared(ones) for _ in range(3)]
    product = scalar(0.8, dtype) * framework.tensor.dot(a, b)
    return matrices, [(c, scalar(0.4, dtype) * c + product)]


class GemmUpdate(object):
    """The function that the frameworks' misc/check_blas.py times: C = 0.4 C + 0.8 A B.

    mode: name of the framework's mode to compile with; None: that of LoadedFramework.function.
    """

    def __init__(self, framework, dtype, mode=None):
        self.dtype = dtype
        self.matrices, updates = product_of(framework, dtype, 1)
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
        return seconds_of(self.run, calls)

    def rates(self, size):
        """Return the GFLOP/s of SAMPLES calls at the size that was set."""
        return [gemm_rate(size, self.seconds()) for _ in range(SAMPLES)]


class NumPyProduct(GemmUpdate):
    """The product of two matrices by NumPy, without a framework: C = A B."""

    def __init__(self, dtype):
        self.dtype = dtype

    def resize(self, size):
        """Set all matrices to ones of (size, size), and warm up."""
        a, b, c = (numpy.ones((size, size), self.dtype) for _ in range(3))
        self.run = lambda: numpy.dot(a, b, out=c)
        self.run()


def gemm_rate(size, seconds):
    """Return the GFLOP/s of a product of two (size, size) matrices that takes so many seconds."""
    return 2.0 * size**3 / seconds / 1e9
