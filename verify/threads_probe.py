"""Run matrix products for a moment and print what they took. Started by threads.py.

Arguments: the library's path, or `numpy` for whatever NumPy calls. Prints a JSON object.
"""

from __future__ import absolute_import, division, print_function

import ctypes
import json
import os
import sys
import time

SIZE = 700


def product_of(path):
    """Return a function without arguments that multiplies two matrices with a library."""
    if path == "numpy":
        import numpy

        matrix = numpy.ones((SIZE, SIZE))
        return lambda: numpy.dot(matrix, matrix)
    handle = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    matrices = [(ctypes.c_double * (SIZE * SIZE))() for _ in range(3)]
    size, one = ctypes.byref(ctypes.c_int(SIZE)), ctypes.byref(ctypes.c_double(1))
    a, b, c = matrices
    letter = ctypes.c_char_p(b"N")
    return lambda: handle.dgemm_(
        letter, letter, size, size, size, one, a, size, b, size, one, c, size
    )


def main():
    """Warm up, then multiply for a third of a second."""
    product = product_of(sys.argv[1])
    product()
    wall, before, calls = time.time(), os.times(), 0
    while time.time() - wall < 0.35 or calls < 2:
        product()
        calls += 1
    after = os.times()
    spent = (after[0] + after[1]) - (before[0] + before[1])
    print(json.dumps({"wall": time.time() - wall, "cpu": spent, "calls": calls}))


if __name__ == "__main__":
    main()
