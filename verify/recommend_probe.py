"""Print the GFLOP/s of a matrix product in a framework. Runs inside an environment.

Arguments: the framework's module and the precision. The product is the one that the frameworks'
own check_blas.py times, compiled for the C virtual machine.
"""

from __future__ import absolute_import, division, print_function

import importlib
import sys
import time

import numpy

SIZE = 2000
CALLS = 4


def main(module, dtype):
    """Compile the product, warm up, time it."""
    framework = importlib.import_module(module)
    tensor = importlib.import_module(module + ".tensor")
    modes = importlib.import_module(module + ".compile.mode")
    random = numpy.random.RandomState(0)
    a, b, c = (framework.shared(random.rand(SIZE, SIZE).astype(dtype)) for _ in range(3))
    scalar = numpy.asarray
    update = scalar(0.4, dtype) * c + scalar(0.8, dtype) * tensor.dot(a, b)
    mode = modes.Mode(linker="cvm", optimizer="fast_run")
    function = framework.function([], [], updates=[(c, update)], mode=mode)
    function()
    start = time.time()
    for _ in range(CALLS):
        function()
    print(CALLS * 2.0 * SIZE**3 / (time.time() - start) / 1e9)


if __name__ == "__main__":
    main(*sys.argv[1:])
