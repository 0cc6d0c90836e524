"""Whether a BLAS library has taken the kernels that this processor can run, or slower ones."""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import re

from verify.blas import bindings
from verify.core import machine
from verify.core.report import failed, passed, skipped

NAME = "kernels"
# Below this share of a processor's peak the choice of kernels is what is wrong: good ones reach
# 80 % and more. Where AVX-512 is no wider than AVX2, as on AMD's Zen 4, kernels for AVX2 do, too.
LEAST_SHARE = 0.75

# Instruction sets, the least first, with the flags of /proc/cpuinfo that a processor has then.
LEVELS = (
    ("SSE2", ()),
    ("AVX", ("avx",)),
    ("AVX2", ("avx2", "fma")),
    ("AVX-512", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
)
# What the libraries call their kernels; any that is not here is for SSE or is portable C.
KERNELS = {
    "openblas": {
        "sandybridge": 1,
        "bulldozer": 1,
        "piledriver": 1,
        "steamroller": 1,
        "excavator": 1,
        "haswell": 2,
        "zen": 2,
        "skylakex": 3,
        "cooperlake": 3,
        "sapphirerapids": 3,
    },
    "blis": {
        "sandybridge": 1,
        "bulldozer": 1,
        "piledriver": 1,
        "steamroller": 1,
        "excavator": 1,
        "haswell": 2,
        "zen": 2,
        "zen2": 2,
        "zen3": 2,
        "skx": 3,
        "knl": 3,
        "zen4": 3,
        "zen5": 3,
    },
    # libmkl_def serves AMD's processors, with kernels for AVX2; Intel's have one of the others.
    "mkl": {"def": 2, "avx2": 2, "avx512": 3, "avx10": 3},
}
VARIABLES = {"openblas": "OPENBLAS_CORETYPE", "blis": "BLIS_ARCH_TYPE"}
# By level, what to ask for.
WANTED = {
    "openblas": ("Prescott", "Sandybridge", "Haswell", "SkylakeX"),
    "blis": ("generic", "sandybridge", "haswell", "skx"),
}


def check(context):
    """Check that the library's kernels use the instructions that this processor has.

    Those for fewer instructions pass where Gemm is fast all the same. MKL's choice cannot be
    changed, so it is told and no more.
    """
    serving = context.serving
    if serving is None:
        return skipped(NAME, "no library was found")
    kernel = _kernel(serving)
    if not kernel:
        return skipped(NAME, "%s does not tell which kernels it has taken" % serving.name)
    have, could = _level_of(serving), level()
    detail = "%s, for %s" % (kernel, LEVELS[have][0])
    if have >= could:
        return passed(NAME, detail)
    detail += ", where this processor has %s" % LEVELS[could][0]
    part = share(context)
    if part is None:
        return skipped(NAME, detail + "; what that costs is not known: no peak to compare with")
    detail += ": Gemm reaches %.0f %% of a processor's peak" % (100 * part)
    if part >= LEAST_SHARE:
        return passed(NAME, detail)
    if context.is_baseline:
        return passed(NAME, detail + "; the other variants are compared with this")
    if serving.name == "mkl":
        return passed(NAME, detail + "; MKL has no others for it, OpenBLAS and BLIS have")
    return failed(NAME, detail, fix(serving, could))


def level(flags=None):
    """Return the index in LEVELS of the best instruction set of these flags, or this processor."""
    flags = set((machine.cpu_field("flags") or "").split() if flags is None else flags)
    return max(i for i, (_, needed) in enumerate(LEVELS) if flags.issuperset(needed))


def share(context):
    """Return the least of both precisions' Gemm on a thread as a share of its peak, or None."""
    dtypes = [dtype for dtype in context.peaks if dtype in context.alone]
    found = [context.alone[dtype] / context.peaks[dtype][1] for dtype in dtypes]
    return min(found) if found else None


def fix_if_slower(serving):
    """Return how to have a library take better kernels, or None where it has the best or no choice.

    serving: a Library, or None.
    """
    if serving is None or serving.name not in VARIABLES or not _kernel(serving):
        return None
    return fix(serving, level()) if _level_of(serving) < level() else None


def fix(serving, could):
    """Return how to have a library take the kernels of a level."""
    variable = VARIABLES[serving.name]
    if os.environ.get(variable):
        return "%s=%s has chosen them: take it out of the environment" % (
            variable,
            os.environ[variable],
        )
    value = WANTED[serving.name][could]
    if serving.name == "blis":
        value = _blis_number(serving.path, value)
    elif not _has(serving.path, value):
        value = None
    if value is None:
        return "this library has no kernels for %s: take a newer one" % LEVELS[could][0]
    return "set it before Python starts:\nexport %s=%s" % (variable, value)


def _level_of(serving):
    return KERNELS[serving.name].get(_kernel(serving).lower(), 0)


def _kernel(serving):
    """Return what a library calls its kernels, or None where it does not tell."""
    if serving.name != "mkl":
        return serving.kernel if serving.name in KERNELS else None
    names = " ".join(os.path.basename(path) for path in bindings.mapped_files())
    found = re.search(r"libmkl_(def|mc3|avx2|avx512|avx10)\b", names)
    return found.group(1) if found else None


def _has(path, name):
    with open(path, "rb") as file:
        return name.encode("ascii") in file.read()


def _blis_number(path, name):
    """Return the number by which a loaded BLIS knows a set of kernels: versions differ in it."""
    handle = ctypes.CDLL(path, mode=bindings.RTLD_NOLOAD | bindings.RTLD_LAZY)
    handle.bli_arch_string.restype = ctypes.c_char_p
    # Better kernels come first, so they are below those that it has taken.
    for number in range(handle.bli_arch_query_id()):
        if handle.bli_arch_string(ctypes.c_int(number)) == name.encode("ascii"):
            return number
    return None
