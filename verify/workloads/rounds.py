"""The workloads that `./invoke bench` times, and the program that times its kernels.

Arguments of the program: the framework's module, a kernel, and optionally `quick` for few sizes and
samples. As the programs of this folder do with --stay, it prints a JSON object when it can begin,
and one with the series for each line on its standard input. Compiled modules stay in the
environment's folder.
"""

from __future__ import absolute_import, division, print_function

import io
import json
import os
import sys

from verify.core import framework as frameworks
from verify.core import process
from verify.core.portable import seconds_of

KERNELS = ("gemm", "elementwise")
# The programs of this folder, each with one or more cases.
PROGRAMS = (
    "ntm", "gibbs", "scan_gc", "scan_outside", "lstm", "logreg", "mlp", "lenet", "check_blas",
)  # fmt: skip
# The ending of a series' name that PyTensor's numba linker compiled.
NUMBA = ", numba"
# Of a program, unless options name another number.
CALLS = 100
KERNEL_SAMPLES = 5
QUICK_KERNEL_SAMPLES = 3
GEMM_SIZES = (500, 1000, 2000, 4000)
QUICK_GEMM_SIZES = (2000,)
# Those of the table of all environments.
QUICK_FUNCTIONS = ("exp", "tanh")
# Seconds. Samples are at least this long, so that the clock and a call's overhead do not count.
LEAST_SECONDS = 0.02


def gemm(framework, quick):
    """Time C = 0.4 C + 0.8 A B, the product that the frameworks' check_blas.py times."""
    if framework.on_device:
        return _gemm_on_device(quick)
    import numpy

    from verify.blas.speed import GemmUpdate, gemm_rate

    random = numpy.random.RandomState(0)
    modes = {"": None}
    if framework.runs_numba:
        modes[NUMBA] = "NUMBA"
    series = []
    for dtype in ("float64", "float32"):
        for label in sorted(modes):
            update = GemmUpdate(framework, dtype, modes[label])
            for size in QUICK_GEMM_SIZES if quick else GEMM_SIZES:
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


KERNEL_WORKLOADS = {"gemm": gemm, "elementwise": elementwise}


def _seconds(call, quick):
    """Return samples of the seconds of a call, after a first call."""
    call()
    seconds = seconds_of(call)
    calls = max(1, int(LEAST_SECONDS / max(seconds, 1e-9)))
    count = QUICK_KERNEL_SAMPLES if quick else KERNEL_SAMPLES
    samples = [seconds] if calls == 1 else []
    while len(samples) < count:
        samples.append(seconds_of(call, calls) / calls)
    return samples


def _series(name, unit, samples):
    return {"name": name, "unit": unit, "samples": samples}


def main(argv):
    """Print the series of a kernel for each line on standard input, until its end."""
    process.end_with_parent()
    framework, kernel = frameworks.load(argv[0]), KERNEL_WORKLOADS[argv[1]]
    is_quick = argv[2:] == ["quick"]
    serve([], lambda _: {"series": kernel(framework, is_quick)})


def serve(ready, answer):
    """Say that this program is ready, then answer each line on standard input, until its end.

    ready: the first answer has it; answer: a function of a request, which returns a dictionary.
    What else is printed goes to standard error.
    """
    sys.stdout.flush()
    with io.open(os.dup(1), "wb") as responses:
        os.dup2(2, 1)

        def respond(content):
            responses.write((json.dumps(content, sort_keys=True) + "\n").encode("ascii"))
            responses.flush()

        respond({"ready": ready})
        for line in iter(sys.stdin.readline, ""):
            respond(answer(json.loads(line)))
