"""Check the accuracy of the array functions that compiled loops call: see libm."""

from __future__ import absolute_import, division, print_function

import ctypes

import numpy

from verify.blas import bindings
from verify.core.report import failed, passed, skipped
from verify.elementwise import libm

NAME = "libm accuracy"
# In units in the last place. AMD gives less than this for its own functions.
ALLOWED = {libm.COMPAT: 1.0, libm.AMDS: 4.0, libm.UNKNOWN: 4.0}
SAMPLES = 20000


def check(context):
    """Check sampled results of every array function against those of a longer format."""
    library = libm.called(context)
    if library is None:
        return skipped(NAME, "no array function is called")
    worst, allowed = (0.0, ""), ALLOWED[library.name]
    handle = bindings.loaded(library.path)
    for symbol in libm.ARRAYS:
        if hasattr(handle, symbol):
            error, argument = largest_error(getattr(handle, symbol), symbol)
            worst = max(worst, (error, "%s at %s" % (symbol, argument)))
    detail = "at most %.2f ULP (%s), %d samples each" % (worst + (SAMPLES,))
    if worst[0] <= allowed:
        return passed(NAME, detail)
    return failed(
        NAME,
        "%s is off by %.4g ULP (%s); %.1f are allowed"
        % (library.detail, worst[0], worst[1], allowed),
        libm.fix(context, library),
    )


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
    low, high = numpy.log(float(limits.tiny)), numpy.log(float(limits.max))
    half = SAMPLES // 2
    if name.startswith("exp"):
        parts = random.uniform(low, high * 0.999, half), random.uniform(-1, 1, half)
    elif name.startswith("pow"):
        parts = numpy.exp(random.uniform(-20, 20, half)), random.uniform(0.5, 2, half)
    elif name.startswith("log"):
        parts = numpy.exp(random.uniform(low, high * 0.999, half)), random.uniform(0.5, 2, half)
    else:
        parts = random.uniform(-10, 10, half), random.uniform(-1000, 1000, half)
    return numpy.concatenate(parts).astype(dtype)
