"""Time exp, log, tanh, sigmoid and softmax, in nanoseconds per element."""

from __future__ import absolute_import, division, print_function

import importlib

import numpy

from verify.core import progress
from verify.core.clock import monotonic, until_steady
from verify.core.report import timing

FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "softmax")
# One that fits into the processor's caches, and one that does not.
SHAPES = ((400, 512), (19531, 512))
# Of samples, at most; with --full.
COUNTS = {SHAPES[0]: 5, SHAPES[1]: 3}
FULL_COUNT = 15
NAMES = {SHAPES[0]: "400x512", SHAPES[1]: "1e7"}


def timings(context):
    """Time the functions on float32 matrices, with `full` on float64 ones too."""
    results = []
    for dtype in ("float32", "float64") if context.full else ("float32",):
        arguments = _arguments(dtype)
        for name in FUNCTIONS:
            progress.note("timing %s %s" % (name, dtype))
            function = of_context(context, name, dtype)
            for values in arguments:
                samples = _samples(function, values, context.full)
                label = "%s %s %s" % (name, dtype, NAMES[values.shape])
                results.append(timing(label, "ns", samples))
    return results


def of_context(context, name, dtype):
    """Return a compiled function of one matrix, which is compiled at the first request."""
    key = name, dtype
    if key not in context.elementwise:
        context.elementwise[key] = compiled(context.framework, name, dtype)
    return context.elementwise[key]


def compiled(framework, name, dtype):
    """Return a compiled function of one matrix."""
    x = framework.variable("matrix", dtype, "x")
    return framework.function([x], output(framework, name, x), profile=False)


def output(framework, name, x):
    """Return the symbolic result of the function `name` of x; softmax is that of each row."""
    if hasattr(framework.tensor, name):
        return getattr(framework.tensor, name)(x)
    if framework.name == "pytensor":
        special = importlib.import_module("pytensor.tensor.special")
        return getattr(special, name)(x, axis=-1)
    return getattr(importlib.import_module(framework.name + ".tensor.nnet"), name)(x)


def _arguments(dtype):
    random = numpy.random.RandomState(0)
    return [random.uniform(0.1, 4, shape).astype(dtype) for shape in SHAPES]


def _samples(function, values, full):
    calls = max(1, 2000000 // values.size)
    function(values)

    def nanoseconds():
        start = monotonic()
        for _ in range(calls):
            function(values)
        return (monotonic() - start) / calls / values.size * 1e9

    if full:
        return [nanoseconds() for _ in range(FULL_COUNT)]
    return until_steady(nanoseconds, COUNTS[values.shape])
