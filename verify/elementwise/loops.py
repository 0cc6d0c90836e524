"""Check and time compiled loops: elementary functions, IEEE's special values, reductions.

The reference is Python's decimal arithmetic, which calls no library of the C language: one that is
wrong, or loaded in place of the right one, would be wrong for NumPy too.
"""

from __future__ import absolute_import, division, print_function

import decimal
import math
import os
import re

import numpy

from verify.blas import bindings
from verify.core import fixes, portable, progress
from verify.core.report import UNKNOWN, failed, passed, skipped, timing
from verify.core.surroundings import loader_fix, suspects

NAME = "elementwise numbers"
DTYPES = ("float64", "float32")
# The order of the cases in the one loop that is compiled for each precision.
CASES = ("exp", "log", "tanh", "sigmoid", "pow")
SPECIAL = ("isnan", "minus", "times", "over")
# Units in the last place. glibc's functions are below 2, vector functions below 4, and a formula
# such as 1 / (1 + exp(-x)) adds one for each of its operations.
ALLOWED = 8
# A multiple of no vector's length: the loop over the rest is tried, too.
LENGTH = 67
POINTS = (0.03, 0.25, 0.5, 0.9375, 1.0, 1.7, 2.5, 3.75, 5.125, 7.5, 9.0)
# Of functions whose results there are no denormals, and that no framework computes by two formulas.
FAR = (1e-5, 30.0)
# By which the compiler may leave IEEE's rules.
HARMFUL = (
    r"-Ofast|-ffast-math|-funsafe-math-optimizations|-ffinite-math-only|-fassociative-math"
    r"|-freciprocal-math|-fno-signed-zeros|-mdaz-ftz|-mfpmath=387"
)
SYMBOLS = ("exp", "expf", "log", "logf", "tanh", "tanhf", "pow", "powf")


def check(context):
    """Check elementary functions to a few units in the last place, and IEEE's special values."""
    if not context.framework.flag("cxx"):
        return skipped(NAME, "no compiler: nothing is compiled")
    cases = [(dtype, None) for dtype in DTYPES]
    # numba takes seconds to compile one.
    cases += [(DTYPES[0], "numba")] * context.framework.runs_numba
    worst = (0.0, "")
    for dtype, linker in cases:
        function = compiled_cases(context.framework, dtype, linker)
        where = "%s%s" % (dtype, ", by numba" if linker else "")
        fault = special_fault(function, dtype)
        if fault:
            return failed(NAME, "%s: %s" % (where, fault), _fix(context, linker))
        error, what = largest_error(function, dtype)
        worst = max(worst, (error, "%s, %s" % (what, where)))
        if error > ALLOWED:
            words = (worst[1], error, ALLOWED)
            detail = "%s is off by %.4g units in the last place; %d are allowed" % words
            return failed(NAME, detail, _fix(context, linker))
    fault = reduction_fault(context)
    if fault:
        return failed(NAME, fault, _fix(context, None))
    detail = "at most %.2f units in the last place (%s); NaN, infinities, zeros and denormals as "
    return passed(NAME, detail % worst + "IEEE 754 has them; sums are right")


def compiled_cases(framework, dtype, linker=None):
    """Return a function of (case, x, y), where the case is the index in CASES + SPECIAL.

    One loop has all of them, since each module takes the compiler a second or more.
    """
    tensor = framework.tensor
    # The case is a vector, too: a scalar would keep the framework from making one loop of it all.
    case, x, y = (framework.variable("vector", dtype, name) for name in ("case", "x", "y"))
    outputs = [framework.apply(name, x) for name in CASES if name != "pow"]
    outputs.append(x**y)
    one = numpy.asarray(1, dtype)
    outputs += [tensor.switch(tensor.isnan(x), one, 0 * one), x - y, x * y, x / y]
    result = outputs[-1]
    for number in reversed(range(len(outputs) - 1)):
        value = numpy.asarray(number, dtype)
        result = tensor.switch(tensor.eq(case, value), outputs[number], result)
    return framework.function([case, x, y], result, profile=False, linker=linker)


def _call(function, dtype, name, x, y):
    """Return the results of a case for two lists of numbers, repeated to LENGTH."""
    case = numpy.full(LENGTH, (CASES + SPECIAL).index(name), dtype)
    arguments = [numpy.resize(numpy.asarray(values, dtype), LENGTH) for values in (x, y)]
    with numpy.errstate(all="ignore"):
        return numpy.asarray(function(case, *arguments)), arguments


def largest_error(function, dtype):
    """Return (the largest error in units in the last place, what is computed, as text)."""
    worst = (0.0, "")
    for name in CASES:
        points = list(POINTS) + list(FAR if name in ("exp", "log", "tanh") else ())
        if name not in ("log", "pow"):
            points += [-point for point in points]
        results, (x, y) = _call(function, dtype, name, points, points[::-1])
        expected = {}
        for result, a, b in zip(results.tolist(), x.tolist(), y.tolist()):
            if (a, b) not in expected:
                expected[a, b] = reference(name, a, b)
            error = _in_ulp(result, expected[a, b], dtype)
            worst = max(worst, (error, "%s at %.9g" % (name, a)))
    return worst


REFERENCES = {
    "exp": lambda x, y: x.exp(),
    "log": lambda x, y: x.ln(),
    "tanh": lambda x, y: ((2 * x).exp() - 1) / ((2 * x).exp() + 1),
    "sigmoid": lambda x, y: 1 / (1 + (-x).exp()),
    "pow": lambda x, y: (y * x.ln()).exp(),
}


def reference(name, x, y):
    """Return a function's value as a Decimal of 40 digits. x and y: floats, taken as they are."""
    with decimal.localcontext() as context:
        context.prec = 40
        return REFERENCES[name](decimal.Decimal(x), decimal.Decimal(y))


def _in_ulp(result, expected, dtype):
    """Return an error in units in the last place; of a value that is no number, infinity."""
    if result != result or abs(result) == float("inf"):
        return float("inf")
    exponent = math.frexp(float(expected))[1] - numpy.finfo(dtype).nmant - 1
    return float(abs(decimal.Decimal(result) - expected) / decimal.Decimal(2) ** int(exponent))


def special_fault(function, dtype):
    """Return which rule of IEEE 754 does not hold, or None."""
    limits = numpy.finfo(dtype)
    nan, infinity, tiny = float("nan"), float("inf"), float(limits.tiny)
    zero, half = 0.0, 0.5
    for name, x, y, expected in (
        ("isnan", nan, 1.0, 1.0),
        ("isnan", infinity, 1.0, zero),
        ("minus", infinity, infinity, nan),
        ("times", infinity, zero, nan),
        ("over", 1.0, -zero, -infinity),
        ("over", -1.0, zero, -infinity),
        ("times", -zero, 1.0, -zero),
        ("times", tiny, half, tiny / 2),
        ("exp", -infinity, 1.0, zero),
        ("exp", infinity, 1.0, infinity),
        ("log", zero, 1.0, -infinity),
        ("log", -1.0, 1.0, nan),
        ("tanh", infinity, 1.0, 1.0),
        ("pow", zero, zero, 1.0),
    ):
        results = _call(function, dtype, name, [x], [y])[0].tolist()
        wrong = [result for result in results if repr(result) != repr(expected)]
        if wrong:
            return "%s of %r and %r is %r, not %r" % (name, x, y, wrong[0], expected)
    return None


def reduction_fault(context):
    """Return what is wrong with the sum or maximum of numbers, or None.

    The numbers are whole ones: each result is exact, in any order.
    """
    framework = context.framework
    x = framework.variable("matrix", "float64", "x")
    function = framework.function([x], [x.sum(), x.max(axis=0)], profile=False)
    values = numpy.arange(-500.0, 507.0).reshape(19, 53)
    total, largest = function(values)
    if total != 3021.0:
        return "the sum of -500 to 506 is %r, not 3021.0" % float(total)
    if largest.tolist() != values[-1].tolist():
        return "the largest numbers of columns are wrong"
    values[3, 4] = float("nan")
    return None if numpy.isnan(function(values)[0]) else "a sum with NaN in it is not NaN"


def _fix(context, linker):
    """Return how to have the right numbers, if it is known what makes them wrong."""
    if linker:
        if context.framework.flag("numba.fastmath"):
            return fixes.flag_fix(context, "numba.fastmath", "False")
        return "%s: numba computes them, without its option fastmath" % UNKNOWN
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    libraries = sorted({each.library for each in bindings.bindings_of(modules, SYMBOLS)})
    fix = fixes.without_flags(context, HARMFUL) or loader_fix(libraries)
    if fix:
        return fix
    # A library that the loader takes first may set how the processor rounds.
    names = [name for name in suspects(os.environ) if name.startswith("LD_")]
    if names:
        shown = " and ".join("%s=%s" % (name, os.environ[name]) for name in names)
        return "%s: without it, verify again:\nunset %s" % (shown, " ".join(names))
    if context.expectation:
        return fixes.repair_of(context)
    foreign = [path for path in libraries if not re.search(r"/libm[.-]", path)]
    names = " and ".join(foreign or libraries) or "the compiler"
    return "%s: the functions are those of %s" % (UNKNOWN, names)


FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "softmax")
# One that fits into the processor's caches, and one that does not.
SHAPES = ((400, 512), (19531, 512))
SHAPE_NAMES = {SHAPES[0]: "400x512", SHAPES[1]: "1e7"}
# Of samples, at most; with --full.
COUNTS, FULL_COUNT = {SHAPES[0]: 5, SHAPES[1]: 3}, 15


def timings(context):
    """Time the functions on float32 matrices, with `full` on float64 ones too."""
    results = []
    for dtype in ("float32", "float64") if context.full else ("float32",):
        arguments = matrices(dtype)
        for name in FUNCTIONS:
            progress.note("timing %s %s" % (name, dtype))
            function = of_context(context, name, dtype)
            for values in arguments:
                label = "%s %s %s" % (name, dtype, SHAPE_NAMES[values.shape])
                results.append(timing(label, "ns", _samples(function, values, context.full)))
    return results


def matrices(dtype):
    """Return a matrix of each of SHAPES: random numbers, which the larger one repeats."""
    numbers = numpy.random.RandomState(0).uniform(0.1, 4, SHAPES[0]).astype(dtype)
    return [numpy.resize(numbers, shape) for shape in SHAPES]


def _samples(function, values, full):
    """Return samples of the nanoseconds that an element takes."""
    calls = max(1, 2000000 // values.size)
    function(values)

    def sample():
        return portable.seconds_of(lambda: function(values), calls) / calls / values.size * 1e9

    if full:
        return [sample() for _ in range(FULL_COUNT)]
    return portable.until_steady(sample, COUNTS[values.shape])


def of_context(context, name, dtype):
    """Return a compiled function of one matrix, which is compiled at the first request."""
    key = name, dtype
    if key not in context.elementwise:
        context.elementwise[key] = compiled(context.framework, name, dtype)
    return context.elementwise[key]


def compiled(framework, name, dtype):
    """Return a compiled function of one matrix."""
    x = framework.variable("matrix", dtype, "x")
    return framework.function([x], framework.apply(name, x), profile=False)
