"""Factorise small matrices in several processes at a time. Started by numba_library.py.

Argument: the number of processes. They compute as the chains of a sampler with a Gaussian process
do, for half a second. Prints how many factorisations all of them have done.
"""

from __future__ import absolute_import, division, print_function

import os

from verify.core import process
from verify.core.clock import monotonic

SIZE = 150
SECONDS = 0.5


def main(argv):
    """Fork the processes, let all begin at once, and print the sum of their calls."""
    import numpy
    import scipy.linalg

    matrix = numpy.eye(SIZE) + numpy.ones((SIZE, SIZE)) / SIZE
    ready, begin = os.pipe()
    readers = []
    for _ in range(int(argv[0])):
        reader, writer = os.pipe()
        readers.append(reader)
        parent = os.getpid()
        if not os.fork():
            process.end_with_parent(parent)
            os.close(begin)
            # The end of the pipe: the parent has closed it.
            os.read(ready, 1)
            os.write(writer, b"%d" % _calls(scipy.linalg, matrix))
            os._exit(0)
        os.close(writer)
    os.close(begin)
    print(sum(int(os.read(reader, 20) or b"0") for reader in readers))


def _calls(linalg, matrix):
    calls, start = 0, monotonic()
    while monotonic() - start < SECONDS:
        factor = linalg.cholesky(matrix, lower=True)
        linalg.solve_triangular(factor, matrix, lower=True)
        calls += 1
    return calls
