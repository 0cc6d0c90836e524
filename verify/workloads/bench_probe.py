"""Time the kernels of the bench in the environment of this interpreter.

Arguments: the framework's module, workloads with commas, and optionally `quick` for few sizes and
samples. Prints a JSON object. Compiled modules stay in the environment's folder.
"""

from __future__ import absolute_import, division, print_function

import json

from verify.core import framework as frameworks
from verify.core.portable import monotonic

SAMPLES = 5
QUICK_SAMPLES = 3
SIZES = (500, 1000, 2000, 4000)
QUICK_SIZES = (2000,)
# Those of the table of all environments.
QUICK_FUNCTIONS = ("exp", "tanh")
# Seconds. Samples are at least this long, so that the clock and a call's overhead do not count.
LEAST = 0.02


def gemm(framework, quick):
    """Time C = 0.4 C + 0.8 A B, the product that the frameworks' check_blas.py times."""
    if framework.on_device:
        return _gemm_on_device(quick)
    import numpy

    from verify.blas.operations import GemmUpdate, gemm_rate

    random = numpy.random.RandomState(0)
    modes = {"": None}
    if framework.runs_numba:
        modes[", numba"] = "NUMBA"
    series = []
    for dtype in ("float64", "float32"):
        for label in sorted(modes):
            update = GemmUpdate(framework, dtype, modes[label])
            for size in QUICK_SIZES if quick else SIZES:
                for variable in update.matrices:
                    variable.set_value(random.rand(size, size).astype(dtype), borrow=True)
                rates = [gemm_rate(size, seconds) for seconds in _seconds(update.run, quick)]
                series.append(_series("Gemm %s %d%s" % (dtype, size, label), "GFLOP/s", rates))
    return series


def _gemm_on_device(quick):
    """Return the series of Theano, and those of the device's BLAS alone."""
    from verify.device import speed as device_speed

    series = []
    sizes = device_speed.QUICK_SIZES if quick else device_speed.ALL_SIZES
    for one in device_speed.products(sizes):
        name = "%(dtype)s %(size)d" % one
        series.append(_series("Gemm " + name, "GFLOP/s", one["theano"]))
        series.append(_series("BLAS alone " + name, "GFLOP/s", one["alone"]))
    return series


def elementwise(framework, quick):
    """Time exp, log, tanh, sigmoid and softmax, in nanoseconds per element; quick: two of them."""
    import numpy

    from verify.elementwise import loops

    series = []
    shapes = loops.SHAPES[:1] if quick else loops.SHAPES
    for dtype in ("float32",) if quick else ("float32", "float64"):
        for name in QUICK_FUNCTIONS if quick else loops.FUNCTIONS:
            function = loops.compiled(framework, name, dtype)
            for shape in shapes:
                values = numpy.random.RandomState(0).uniform(0.1, 4, shape).astype(dtype)
                times = _seconds(lambda f=function, v=values: f(v), quick)
                label = "%s %s %s" % (name, dtype, loops.SHAPE_NAMES[shape])
                series.append(_series(label, "ns", [1e9 * t / values.size for t in times]))
    return series


WORKLOADS = {"gemm": gemm, "elementwise": elementwise}


def _seconds(call, quick):
    """Return samples of the seconds of a call, after a first call."""
    call()
    start = monotonic()
    call()
    seconds = monotonic() - start
    calls = max(1, int(LEAST / max(seconds, 1e-9)))
    count = QUICK_SAMPLES if quick else SAMPLES
    samples = [seconds] if calls == 1 else []
    while len(samples) < count:
        start = monotonic()
        for _ in range(calls):
            call()
        samples.append((monotonic() - start) / calls)
    return samples


def _series(name, unit, samples):
    return {"name": name, "unit": unit, "samples": samples}


def main(argv):
    """Print the series of the workloads."""
    framework = frameworks.load(argv[0])
    series = []
    for name in argv[1].split(","):
        series += WORKLOADS[name](framework, argv[2:] == ["quick"])
    print(json.dumps({"series": series}))
