"""Time a small function in the mode that programs run. Started by slow_flags.py.

Arguments: the framework's module, and the folder to compile into. Prints seconds as a JSON number.
"""

from __future__ import absolute_import, division, print_function

import json

from verify.core import compiling
from verify.core.clock import monotonic

SIZE, SAMPLES = 200, 5
# Seconds after which one sample is enough.
LONG = 2.0


def main(argv):
    """Compile tanh(x y + x) for matrices of floatX, and print the shortest of a few calls."""
    name, folder = argv
    compiling.use_compile_folder(folder, (name,))
    import numpy

    from verify.core import framework as frameworks

    framework = frameworks.load(name)
    dtype = str(framework.flag("floatX"))
    x, y = (framework.variable("matrix", dtype, letter) for letter in "xy")
    # Without a mode: as the user's settings have it.
    function = framework.module.function([x, y], framework.tensor.tanh(x * y + x).sum(axis=0))
    matrix = numpy.full((SIZE, SIZE), 0.5, dtype)
    function(matrix, matrix)
    samples = []
    while len(samples) < SAMPLES and sum(samples) < LONG:
        start = monotonic()
        function(matrix, matrix)
        samples.append(monotonic() - start)
    print(json.dumps(min(samples)))
