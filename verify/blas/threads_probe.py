"""Run matrix products for a moment and print their times; fork. Started by threads.py.

Argument: the path of a library, or `numpy` for the library that NumPy calls. Prints a JSON object:
`wall`, the seconds that it ran, `cpu` and `own`, those of processor time of all threads and of the
calling one, the number of `calls`, and `fork`, what a forked process did instead of multiplying.
"""

from __future__ import absolute_import, division, print_function

import ctypes
import json
import os
import resource
import select
import signal
import time

from verify.core import process

# So large that it runs on all threads, also behind libblas_threads (its MATRIX_LARGE).
SIZE = 1100
# Seconds for one product of a forked process. It takes tenths of one, some of a slow library, or
# for ever.
LIMIT = 15
# The calling thread, see getrusage(2). Python 2's module does not define it.
RUSAGE_THREAD = 1


def product_of(path):
    """Return a function without arguments that multiplies two float64 matrices of SIZE."""
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


def processor_time(who):
    """Return the seconds of processor time of RUSAGE_SELF or RUSAGE_THREAD."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def fault_in_child(product):
    """Return what a process that is forked now does instead of multiplying, or ""."""
    reader, writer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if not child:
        process.end_with_parent(parent)
        product()
        os._exit(0)
    os.close(writer)
    # The end of the child closes the pipe.
    ended = select.select([reader], [], [], LIMIT)[0]
    os.close(reader)
    if not ended:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if not ended:
        return "never ends its own"
    return "crashes in its own" if status else ""


def main(argv):
    """Warm up, multiply for a third of a second, fork, and print the times."""
    product = product_of(argv[0])
    product()
    wall, calls = time.time(), 0
    cpu, own = (processor_time(who) for who in (resource.RUSAGE_SELF, RUSAGE_THREAD))
    while time.time() - wall < 0.35 or calls < 2:
        product()
        calls += 1
    times = {
        "cpu": processor_time(resource.RUSAGE_SELF) - cpu,
        "own": processor_time(RUSAGE_THREAD) - own,
        "wall": time.time() - wall,
        "calls": calls,
    }
    times["fork"] = fault_in_child(product)
    print(json.dumps(times))
