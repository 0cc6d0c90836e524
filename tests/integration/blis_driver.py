# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: B905
"""Gemm of a BLIS with any strides, as its own interface knows them.

Argument: the library. Prints as JSON whether the kernels of recipes/libblis are in force.
"""

import ctypes
import itertools
import json
import sys

import numpy


def strided(random, kind, rows, columns, order):
    """Return random numbers by rows, by columns, or with a gap after each element."""
    if order == "gaps":
        return random.rand(2 * rows, 3 * columns).astype(kind)[::2, ::3]
    return numpy.asarray(random.rand(rows, columns), kind, order)


def blis(path):
    """Try alpha A B + beta C; return whether the kernels of recipes/libblis are in force."""
    library, random = ctypes.CDLL(path), numpy.random.RandomState(0)
    # The edges of a tile and of a block, and lengths about the block's; all layouts; large ones.
    edges = itertools.product((1, 23, 24, 25, 33, 150), (1, 8, 13, 40), (1, 7, 100, 513))
    layouts = itertools.product(itertools.product(("C", "F", "gaps"), repeat=3), (0, 1, -0.5))
    cases = [(sizes, "CCC", 1.5, 0.5) for sizes in edges]
    cases += [((50, 44, 37), orders, 1 if beta else -2, beta) for orders, beta in layouts]
    cases += [
        ((30, 4100, 20), "CCC", 1, 0),
        ((4100, 30, 20), "CFC", 1, 0),
        ((3, 3, 0), "CCC", 1, 2),
    ]
    names = (("float32", "bli_sgemm", ctypes.c_float), ("float64", "bli_dgemm", ctypes.c_double))
    for (kind, name, number), ((m, n, k), orders, alpha, beta) in itertools.product(names, cases):
        shapes = ((m, k), (k, n), (m, n))
        a, b, c = (strided(random, kind, *shape, order=o) for shape, o in zip(shapes, orders))
        # NumPy multiplies matrices of these by itself, without a BLAS.
        expected = alpha * a.astype("longdouble").dot(b.astype("longdouble"))
        if beta:
            expected += beta * c.astype("longdouble")
        else:
            c[:] = numpy.nan
        matrices = [
            [ctypes.c_void_p(x.ctypes.data)] + [ctypes.c_int64(s // x.itemsize) for s in x.strides]
            for x in (a, b, c)
        ]
        lengths = [ctypes.c_int64(length) for length in (m, n, k)]
        scales = [[ctypes.byref(number(scale))] for scale in (alpha, beta)]
        head = [0, 0] + lengths + scales[0] + matrices[0] + matrices[1] + scales[1]
        getattr(library, name)(*(head + matrices[2]))
        bound = 4 * (k + 2) * numpy.finfo(kind).eps * max(1, numpy.abs(expected).max())
        assert numpy.abs(c - expected).max() <= bound, (name, m, n, k, orders, alpha, beta)
    return library.blis_zen5_installed()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(blis(sys.argv[1])) + "\n")
