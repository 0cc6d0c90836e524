"""Check that the BLAS library uses the best kernels for this processor; measure its peak rate.

The peak is that of fused multiply-adds.
"""

from __future__ import absolute_import, division, print_function

import ctypes
import importlib
import os
import re
import time

from verify.blas import bindings, library
from verify.core import c_code, machine, progress
from verify.core.portable import monotonic
from verify.core.report import failed, passed, skipped, timing

NAME = "kernels"
# Good kernels reach 80 % and more of a processor's peak. Where AVX-512 is no wider than AVX2, as on
# AMD's Zen 4, kernels for AVX2 do as well.
LEAST_SHARE = 0.75

# Instruction sets from the worst to the best, with the flags of /proc/cpuinfo that they need.
LEVELS = (
    ("SSE2", ()),
    ("AVX", ("avx",)),
    ("AVX2", ("avx2", "fma")),
    ("AVX-512", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
)
AVX2 = 2
AVX_KERNELS = ("sandybridge", "bulldozer", "piledriver", "steamroller", "excavator")
# The names of each library's kernels for the levels above the first. Any other name is for SSE, or
# portable C.
KERNELS = {
    "openblas": (AVX_KERNELS, ("haswell", "zen"), ("skylakex", "cooperlake", "sapphirerapids")),
    "blis": (AVX_KERNELS, ("haswell", "zen", "zen2", "zen3"), ("skx", "knl", "zen4", "zen5")),
    # AMD's processors get libmkl_def, with kernels for AVX2; Intel's get one of the others.
    "mkl": ((), ("def", "avx2"), ("avx512", "avx10")),
}
VARIABLES = {"openblas": "OPENBLAS_CORETYPE", "blis": "BLIS_ARCH_TYPE"}
# By which Intel's processors get other kernels of MKL than their best; and the value of the second
# by which every processor gets those for SSE2.
MKL_VARIABLES = ("MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR")
COMPATIBLE = "COMPATIBLE"
# The kernels to request, one for each level.
PREFERRED = {
    "openblas": ("Prescott", "Sandybridge", "Haswell", "SkylakeX"),
    "blis": ("generic", "sandybridge", "haswell", "skx"),
}


def check(context):
    """Check that the library's kernels use the best instruction set of this processor.

    Other kernels pass where Gemm is fast all the same, and those of MKL unless a variable selects
    them: better ones cannot be selected.
    """
    serving = context.serving
    if serving is None:
        return skipped(NAME, "no library was found")
    kernel = _kernel(serving)
    if not kernel:
        return skipped(NAME, "%s does not report its kernels" % serving.name)
    used, best, variable = _level_of(serving), level(), _variable(serving)
    # Gemm on one thread as a share of its peak, the lower of both precisions.
    dtypes = [dtype for dtype in context.peaks if dtype in context.alone]
    shares = [context.alone[dtype] / context.peaks[dtype][1] for dtype in dtypes]
    reached = min(shares) if shares else None
    is_fixed = serving.name == "mkl" and not variable
    is_slow = reached is not None and reached < LEAST_SHARE
    # Other programs push its matrices out of the caches.
    if is_fixed and is_slow and used < best and not any(context.reasons.values()):
        words = (100 * reached, LEVELS[used][0], LEVELS[best][0])
        context.advice.append(
            "MKL reaches %.0f %% of this processor's peak by kernels for %s: OpenBLAS and BLIS "
            "have some for %s" % words
        )
    detail = "%s, for %s" % (kernel, LEVELS[used][0])
    if variable:
        detail += ", by %s=%s" % (variable, os.environ[variable])
    if used >= best:
        return passed(NAME, detail)
    detail += ", where this processor has %s" % LEVELS[best][0]
    if reached is None:
        must_be_slow = used < AVX2 <= best and serving.name != "mkl"
        if must_be_slow and not context.is_baseline:
            # At most half as fast, whatever a measurement would show.
            return failed(NAME, detail, fix_if_slower(serving))
        return skipped(NAME, detail + "; the cost is unknown: no peak to compare with")
    detail += ": Gemm reaches %.0f %% of a processor's peak" % (100 * reached)
    if reached >= LEAST_SHARE:
        return passed(NAME, detail)
    if context.is_baseline:
        return passed(NAME, detail + "; the other variants are compared with this")
    if is_fixed:
        return passed(NAME, detail + "; MKL has no better ones for it, OpenBLAS and BLIS do")
    return failed(NAME, detail, fix_if_slower(serving))


def level():
    """Return the index in LEVELS of the best instruction set of this processor."""
    flags = set((machine.cpu_field("flags") or "").split())
    return max(i for i, (_, needed) in enumerate(LEVELS) if flags.issuperset(needed))


def fix_if_slower(serving):
    """Return how to select better kernels of a Library; None if there is none, or no choice."""
    best = level()
    if serving is None or not _kernel(serving) or _level_of(serving) >= best:
        return None
    variable = _variable(serving)
    if variable:
        return "%s=%s selects these kernels:\nunset %s" % (variable, os.environ[variable], variable)
    if serving.name not in VARIABLES:
        return None
    value = PREFERRED[serving.name][best]
    if serving.name == "blis":
        value = _blis_number(serving.path, value)
    else:
        with open(library.behind(serving.path), "rb") as file:
            value = value if value.encode("ascii") in file.read() else None
    if value is None:
        return "this library has no kernels for %s: install one that has" % LEVELS[best][0]
    return "set this before Python starts:\nexport %s=%s" % (VARIABLES[serving.name], value)


def _variable(serving):
    """Return the variable that selects the kernels of a Library in this process, or None."""
    names = [VARIABLES.get(serving.name, "")]
    if serving.name == "mkl":
        is_intel = machine.cpu_field("vendor_id") == "GenuineIntel"
        names = MKL_VARIABLES[1:] if _is_compatible() else MKL_VARIABLES if is_intel else ()
    return next((name for name in names if os.environ.get(name)), None)


def _is_compatible():
    return os.environ.get(MKL_VARIABLES[1], "").upper().startswith(COMPATIBLE)


def _level_of(serving):
    if serving.name == "mkl" and _is_compatible():
        return 0
    levels = enumerate(KERNELS[serving.name], 1)
    return next((level for level, names in levels if _kernel(serving).lower() in names), 0)


def _kernel(serving):
    """Return the library's own name of its kernels, or None if it does not report one."""
    if serving.name != "mkl":
        return serving.kernel if serving.name in KERNELS else None
    names = " ".join(os.path.basename(path) for path in bindings.mapped_files())
    match = re.search(r"libmkl_(def|mc3|avx2|avx512|avx10)\b", names)
    return match.group(1) if match else None


def _blis_number(path, name):
    """Return the number of a set of kernels in a loaded BLIS, which depends on its version."""
    handle = bindings.loaded(path)
    handle.bli_arch_string.restype = ctypes.c_char_p
    # Better kernels come first, so their numbers are below that of the selected ones.
    for number in range(handle.bli_arch_query_id()):
        if handle.bli_arch_string(ctypes.c_int(number)) == name.encode("ascii"):
            return number
    return None


# Measures the peak.
SOURCE = "verify.blas", "peak.c"
# Of it.
INSTRUCTION_SETS = (0, 1, 2, 3)
# Seconds of measurement on each thread: to find the best instruction set, and to measure it.
TRIAL, MEASUREMENT = 0.02, 0.1
# Seconds for the threads to start. Not threading.Thread, which with little memory waits for ever.
LONGEST = 60
start_thread = importlib.import_module("thread" if str is bytes else "_thread").start_new_thread


def load_peak(compiler, folder):
    """Compile peak.c with the framework's compiler and return the loaded library.

    Raises c_code.NoCompilerError.
    """
    kernel = c_code.load(compiler, SOURCE, folder)
    number, double = ctypes.c_int, ctypes.c_double
    kernel.best_rate.restype = double
    kernel.best_rate.argtypes = (number, number, double, double, ctypes.POINTER(double))
    return kernel


def best_set(kernel, dtype, threads):
    """Return the instruction set whose rate on so many threads is the highest."""
    return max(INSTRUCTION_SETS, key=lambda isa: rate_of(kernel, dtype, isa, threads, TRIAL))


def rate_of(kernel, dtype, isa, threads, seconds):
    """Return the GFLOP/s of an instruction set, all threads together."""
    is_single, rates = int(dtype == "float32"), []

    def work():
        machine.unbind()
        sink = ctypes.c_double(0)
        rates.append(kernel.best_rate(is_single, isa, seconds, 0.0, ctypes.byref(sink)))

    for _ in range(threads):
        start_thread(work, ())
    end = monotonic() + seconds + LONGEST
    while len(rates) < threads:
        if monotonic() > end:
            raise RuntimeError("can't start new thread")
        time.sleep(seconds / 10)
    return sum(rates) / 1e9


def threads_used(context):
    """Return how many of this machine's processors the library's threads run on."""
    cores = machine.usable_cores()
    return min((context.serving and context.serving.threads) or cores, cores)


def time_peaks(context):
    """Measure the FMA peak of both precisions; fill context.peaks.

    On one thread, on as many as the library uses, and on all.
    Raises c_code.NoCompilerError.
    """
    progress.note("measuring this machine's peak")
    context.peak_kernel = load_peak(context.framework.flag("cxx"), context.folder)
    counts = sorted({1, threads_used(context), machine.usable_cores()})
    for dtype in ("float64", "float32"):
        context.peaks[dtype] = {}
        for count in counts:
            isa = best_set(context.peak_kernel, dtype, count)
            rate = rate_of(context.peak_kernel, dtype, isa, count, MEASUREMENT)
            context.peak_sets[dtype, count], context.peaks[dtype][count] = isa, rate
    return [
        timing("peak %s, %d thread%s" % (dtype, count, "s" * (count > 1)), "GFLOP/s", [rate])
        for dtype in ("float64", "float32")
        for count, rate in sorted(context.peaks[dtype].items())
    ]
