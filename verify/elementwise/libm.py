"""Check that compiled loops call the array functions of AMD's LibM or of amdlibm-compat.

The frameworks' flag lib.amdlibm makes them do so.
"""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import re
import sys

import numpy

from verify.blas import bindings
from verify.core import fixes
from verify.core.configuration import source_of
from verify.core.framework import AMDLIBM_FLAGS
from verify.core.report import failed, passed, skipped
from verify.core.surroundings import loader_fix
from verify.elementwise import loops

NAME = "libm"
LOOPS = "libm in fused loops"
ACCURACY = "libm accuracy"
FILE = "libamdlibm.so"
COMPAT, AMDS, UNKNOWN = "amdlibm-compat", "AMD LibM", "unknown library"
UNARY = ("exp", "log", "log2", "log10", "sin", "cos")
ARRAYS = tuple(pattern % name for name in UNARY for pattern in ("amd_vrsa_%sf", "amd_vrda_%s"))
ARRAYS += ("amd_vrsa_powf", "amd_vrsa_powxf")
# In units in the last place. AMD gives less than this for its own functions.
ALLOWED = {COMPAT: 1.0, AMDS: 4.0, UNKNOWN: 4.0}
SAMPLES = 20000

# name: COMPAT, AMDS or UNKNOWN.
MathLibrary = collections.namedtuple("MathLibrary", "name detail path")


def is_expected(context):
    """Say whether the environment's settings turn the library on, or in a diagnosis the flag."""
    if context.expectation:
        flags = context.expectation["flags"]
        return any(str(flags.get(name, "")).lower() == "true" for name in AMDLIBM_FLAGS)
    return bool(context.framework.flag(context.framework.amdlibm_flag))


def check(context):
    """Check that a compiled exp calls an array function of the expected library.

    Call it, and the checks below, where is_expected() says so.
    """
    flag = context.framework.amdlibm_flag
    if not context.framework.flag(flag):
        source = source_of(context, flag)[0] or "nothing sets it"
        detail = "%s is off (%s): no array function is called" % (flag, source)
        return failed(NAME, detail, fixes.own_fix(context, flag))
    try:
        _run(context, "exp")
    except Exception as error:
        reason, fix = _missing(error), _fix(context)
        if not reason:
            reason, fix = fixes.explained(context, error)
        return failed(NAME, "exp does not compile: " + reason, fix)
    library = called(context)
    if library is None:
        detail = "the compiled exp calls none of the array functions, though %s is on" % flag
        return failed(NAME, detail, _fix(context))
    detail = "%s, %s" % (library.detail, os.path.basename(library.path))
    if context.expectation:
        packages = [package["name"] for package in context.expectation["packages"]]
        name = AMDS if "amdlibm" in packages else COMPAT
        folder = os.path.realpath(sys.prefix) + os.sep
        if library.name != name or not library.path.startswith(folder):
            detail = "expected %s in %s; found %s" % (name, folder, detail)
            return failed(NAME, detail, _fix(context, library))
    return passed(NAME, detail)


def called(context):
    """Return the MathLibrary whose array functions compiled modules call, or None; None if off."""
    framework = context.framework
    if not framework.flag(framework.amdlibm_flag):
        return None
    modules = bindings.modules_below(framework.flag("compiledir"))
    calls = bindings.bindings_of(modules, ARRAYS)
    return identify(calls[0].library) if calls else None


def identify(path):
    """Return the MathLibrary that is loaded from a path, by its symbols, not by its file name."""
    handle = bindings.loaded(path)
    if hasattr(handle, "amdlibm_compat_about"):
        for name in ("amdlibm_compat_about", "amdlibm_compat_tier"):
            getattr(handle, name).restype = ctypes.c_char_p
        about = handle.amdlibm_compat_about().decode("ascii").split(":")[0]
        tier = handle.amdlibm_compat_tier().decode("ascii")
        return MathLibrary(COMPAT, "%s (not AMD's), %s" % (about, tier), path)
    with open(path, "rb") as file:
        data = file.read()
    # The version text in AMD's releases.
    name = AMDS if b"AOCL-LibM" in data or b"ALM_VERSION" in data else UNKNOWN
    return MathLibrary(name, name, path)


def _run(context, name):
    """Compile a function, from the compile folder the second time, and call it."""
    function = loops.compiled(context.framework, name, "float32")
    function(numpy.ones((2, 2), "float32"))


def check_loops(context):
    """Check that a loop without an array function calls amdlibm-compat's vector functions."""
    _run(context, "exp")
    library = called(context)
    if library is None or library.name != COMPAT:
        return skipped(LOOPS, "only %s has functions for them" % COMPAT)
    _run(context, "tanh")
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    functions = sorted(
        name for path in modules for name in bindings.imports(path) if "amd_tanhf" in name
    )
    vector = [name for name in functions if name.startswith("_ZGV")]
    if vector:
        return passed(LOOPS, "tanh calls %s" % vector[-1])
    return failed(
        LOOPS,
        "tanh calls %s" % (" and ".join(functions) or "the C library's function"),
        fixes.without_flags(context, r"-DAMDLIBM_COMPAT_NO_SIMD(=\S*)?|-O[012sg]") or _fix(context),
    )


def _missing(error):
    """Return which file of the library is missing where nothing compiles, or None."""
    text = str(error)
    if re.search(r"amdlibm\S*\.h: No such file", text):
        return "the compiler finds no header amdlibm.h"
    if "cannot find -lamdlibm" in text or FILE + ": cannot open" in text:
        return "the linker or the loader finds no " + FILE
    return None


def _fix(context, library=None):
    """Return how to have the environment's own files compiled and called.

    library: the MathLibrary that is not the environment's, or is wrong.
    """
    fix = loader_fix([library.path]) if library else None
    if fix:
        return fix
    if not context.framework.flag("cxx"):
        return fixes.compiler_fix(context)
    if context.expectation:
        return fixes.repair_of(context)
    flag = context.framework.amdlibm_flag
    return fixes.undo_fix(context, flag) or fixes.setting_fix(context, flag, "False")


def check_accuracy(context):
    """Check sampled results of every array function against those of a longer format."""
    library = called(context)
    if library is None:
        return skipped(ACCURACY, "no array function is called")
    worst, allowed = (0.0, ""), ALLOWED[library.name]
    handle = bindings.loaded(library.path)
    for symbol in ARRAYS:
        if hasattr(handle, symbol):
            error, argument = largest_error(getattr(handle, symbol), symbol)
            worst = max(worst, (error, "%s at %s" % (symbol, argument)))
    if worst[0] <= allowed:
        detail = "at most %.2f ULP (%s), %d samples each" % (worst + (SAMPLES,))
        return passed(ACCURACY, detail)
    words = (library.detail,) + worst + (allowed,)
    detail = "%s is off by %.4g ULP (%s); %.1f are allowed" % words
    return failed(ACCURACY, detail, _fix(context, library))


def largest_error(function, symbol):
    """Return (the largest error of an array function in ULP, its argument as text).

    function: as ctypes has it; symbol: its name, such as amd_vrsa_expf.
    """
    single = "_vrsa_" in symbol
    dtype, wide = (numpy.float32, numpy.float64) if single else (numpy.float64, numpy.longdouble)
    name = symbol.split("_")[-1]
    name = name[:-1] if single else name
    x = _arguments(name, dtype)
    z = numpy.empty_like(x)
    function.restype = None
    parameters = [ctypes.c_void_p(a.ctypes.data) for a in (x, z)]
    if name == "pow":
        y = numpy.linspace(-4, 4, len(x)).astype(dtype)
        parameters.insert(1, ctypes.c_void_p(y.ctypes.data))
        expected = numpy.power(x.astype(wide), y.astype(wide))
    elif name == "powx":
        parameters.insert(1, ctypes.c_float(1.5))
        expected = numpy.power(x.astype(wide), wide(1.5))
    else:
        expected = getattr(numpy, name)(x.astype(wide))
    function(ctypes.c_int(len(x)), *parameters)
    errors = _in_ulp(z, expected, dtype, wide)
    at = int(numpy.argmax(errors))
    return float(errors[at]), "%.9g" % x[at]


def _in_ulp(results, expected, dtype, wide):
    """Return the errors in units in the last place of `dtype`; NaN counts as infinite."""
    limits = numpy.finfo(dtype)
    _, exponent = numpy.frexp(numpy.maximum(numpy.abs(expected), wide(limits.tiny)))
    errors = numpy.abs(results.astype(wide) - expected) / numpy.ldexp(
        wide(1), exponent - (limits.nmant + 1)
    )
    return numpy.where(numpy.isnan(errors), numpy.inf, errors)


def _arguments(name, dtype):
    random, limits = numpy.random.RandomState(1), numpy.finfo(dtype)
    low, high = numpy.log(float(limits.tiny)), numpy.log(float(limits.max)) * 0.999
    # Of two halves of the samples: the ends of a range, and whether these are exponents.
    wide, narrow, are_exponents = {
        "exp": ((low, high), (-1, 1), False),
        "log": ((low, high), (0.5, 2), True),
        "pow": ((-20, 20), (0.5, 2), True),
    }.get(name[:3], ((-10, 10), (-1000, 1000), False))
    wide, narrow = (random.uniform(*ends, size=SAMPLES // 2) for ends in (wide, narrow))
    return numpy.concatenate([numpy.exp(wide) if are_exponents else wide, narrow]).astype(dtype)
