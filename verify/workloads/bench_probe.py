"""Time one of the bench's own workloads. Runs inside an environment.

Arguments: the framework's module, the workload, and `quick` where few sizes will do. Prints a JSON
object; the compiled modules go to the environment's own folder, so that they are made once.
"""

from __future__ import absolute_import, division, print_function

import json

from verify.core import framework as frameworks
from verify.core.clock import monotonic

SAMPLES = 5
QUICK_SAMPLES = 3
SIZES = (500, 1000, 2000, 4000)
QUICK_SIZES = (2000,)
# So long a sample that the clock and a call's overhead do not count in it.
LEAST = 0.02


def gemm(framework, quick):
    """Time C = 0.4 C + 0.8 A B, the product that the frameworks' own check_blas.py times."""
    import numpy

    random = numpy.random.RandomState(0)
    modes = {"": None}
    if framework.name == "pytensor":
        # What a user gets who asks for nothing.
        modes[", numba"] = "NUMBA"
    found = []
    for dtype in ("float64", "float32"):
        for label in sorted(modes):
            a, b, c = (framework.module.shared(numpy.ones((1, 1), dtype)) for _ in range(3))
            scalar = numpy.asarray
            product = scalar(0.8, dtype) * framework.tensor.dot(a, b)
            updates = [(c, scalar(0.4, dtype) * c + product)]
            if modes[label]:
                function = framework.module.function([], [], updates=updates, mode=modes[label])
            else:
                function = framework.function([], [], updates=updates, profile=False)
            for size in QUICK_SIZES if quick else SIZES:
                for variable in (a, b, c):
                    variable.set_value(random.rand(size, size).astype(dtype), borrow=True)
                rates = [2.0 * size**3 / seconds / 1e9 for seconds in _seconds(function, quick)]
                found.append(_series("Gemm %s %d%s" % (dtype, size, label), "GFLOP/s", rates))
    return found


def elementwise(framework, quick):
    """Time exp, log, tanh, sigmoid and softmax, by the element."""
    import numpy

    from verify.elementwise import speed as elementwise_speed

    found = []
    shapes = elementwise_speed.SHAPES[:1] if quick else elementwise_speed.SHAPES
    for dtype in ("float32",) if quick else ("float32", "float64"):
        for name in elementwise_speed.FUNCTIONS:
            function = elementwise_speed.compiled(framework, name, dtype)
            for shape in shapes:
                values = numpy.random.RandomState(0).uniform(0.1, 4, shape).astype(dtype)
                times = _seconds(lambda f=function, v=values: f(v), quick)
                label = "%s %s %s" % (name, dtype, elementwise_speed.NAMES[shape])
                found.append(_series(label, "ns", [1e9 * t / values.size for t in times]))
    return found


WORKLOADS = {"gemm": gemm, "elementwise": elementwise}


def _seconds(call, quick):
    """Return the seconds that a call takes, of several samples, once it is warm."""
    call()
    start = monotonic()
    call()
    calls = max(1, int(LEAST / max(monotonic() - start, 1e-9)))
    samples = []
    for _ in range(QUICK_SAMPLES if quick else SAMPLES):
        start = monotonic()
        for _ in range(calls):
            call()
        samples.append((monotonic() - start) / calls)
    return samples


def _series(name, unit, samples):
    return {"name": name, "unit": unit, "samples": samples}


def main(words):
    """Print what a workload takes: the framework's module, the workload, perhaps `quick`."""
    framework = frameworks.load(words[0])
    print(json.dumps({"series": WORKLOADS[words[1]](framework, words[2:] == ["quick"])}))
