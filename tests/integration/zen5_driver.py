"""Whether BLIS's Gemm and what stands on it are right: for an environment's own Python.

Prints 1 where the kernels of recipes/libblis are in force, else 0.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from typing import Any

import numpy as np  # type: ignore[import-not-found]
from scipy.linalg import blas as sb  # type: ignore[import-untyped]

lib = ctypes.CDLL(sys.argv[1])
random = np.random.RandomState(0)
# NumPy multiplies matrices of these by itself, without a BLAS.
EXACT = {"f": np.longdouble, "d": np.longdouble, "F": np.clongdouble, "D": np.clongdouble}


def close(found: Any, expected: Any, terms: int) -> None:
    bound = 4 * terms * np.finfo(found.dtype).eps
    assert found.shape == expected.shape
    worst, largest = np.abs(found - expected).max(), max(1, np.abs(expected).max())
    assert worst <= bound * largest, (found.dtype, found.shape, terms, worst / largest)


def laid_out(rows: int, columns: int, kind: str, order: Any) -> Any:
    """Return random numbers by rows, by columns, or with a gap after each element."""
    if order == "gaps":
        return random.rand(2 * rows, 3 * columns).astype(kind)[::2, ::3]
    return np.asarray(random.rand(rows, columns), kind, order)


def gemm(
    kind: str, m: int, n: int, k: int, orders: tuple[str, ...] | str, alpha: float, beta: float
) -> None:
    """Try alpha A B + beta C, A of m x k, by BLIS's own interface, which knows any strides."""
    number: Any = {"f": ctypes.c_float, "d": ctypes.c_double}[kind]
    a = laid_out(m, k, kind, orders[0])
    b = laid_out(k, n, kind, orders[1])
    c = laid_out(m, n, kind, orders[2])
    exact = EXACT[kind]
    expected = exact(alpha) * a.astype(exact).dot(b.astype(exact))
    if beta:
        expected += exact(beta) * c
    else:
        c[:] = np.nan
    matrices = [
        [ctypes.c_void_p(x.ctypes.data), *(ctypes.c_int64(s // x.itemsize) for s in x.strides)]
        for x in (a, b, c)
    ]
    sizes = [ctypes.c_int64(size) for size in (m, n, k)]
    function = getattr(lib, {"f": "bli_sgemm", "d": "bli_dgemm"}[kind])
    scales = [ctypes.byref(number(scale)) for scale in (alpha, beta)]
    function(0, 0, *sizes, scales[0], *matrices[0], *matrices[1], scales[1], *matrices[2])
    close(c, expected, k + 2)


def others(kind: str, n: int) -> None:
    """Try what BLIS builds on the kernels of Gemm, complex numbers among it."""
    exact = EXACT[kind]
    a, b = random.rand(n, n) + n * np.eye(n), random.rand(n, n // 2)
    if kind in "FD":
        a, b = a + 1j * random.rand(n, n), b + 1j * random.rand(n, n // 2)
    a, b = np.asfortranarray(a, kind), np.asfortranarray(b, kind)
    wide, right = a.astype(exact), b.astype(exact)
    get = sb.get_blas_funcs
    product, solve, times, square, symmetric = get(("gemm", "trsm", "trmm", "syrk", "symm"), (a,))
    for turned in (0, 1):
        close(product(1, a, b, trans_a=turned), (wide.T if turned else wide).dot(right), n)
        for lower in (0, 1):
            part = np.tril(wide) if lower else np.triu(wide)
            factor = part.T if turned else part
            close(times(1, a, b, lower=lower, trans_a=turned), factor.dot(right), n)
            found = solve(1, a, b, lower=lower, trans_a=turned)
            close(factor.dot(found.astype(exact)).astype(kind), right, n * n)
            found = square(1, b, lower=lower, trans=turned)
            whole = right.T.dot(right) if turned else right.dot(right.T)
            close(found, np.tril(whole) if lower else np.triu(whole), n)
            mirrored = part + part.T - np.diag(np.diag(part))
            close(symmetric(1, a, b, lower=lower), mirrored.dot(right), n)


for kind in "fd":
    # The edges of a tile and of a block, and lengths about the block's.
    for m, n, k in itertools.product((1, 23, 24, 25, 33, 150), (1, 8, 13, 40), (1, 7, 100, 513)):
        gemm(kind, m, n, k, "CCC", 1.5, 0.5)
    for orders in itertools.product(("C", "F", "gaps"), repeat=3):
        for beta in (0, 1, -0.5):
            gemm(kind, 50, 44, 37, orders, 1 if beta else -2, beta)
    gemm(kind, 30, 4100, 20, "CCC", 1, 0)
    gemm(kind, 4100, 30, 20, "CFC", 1, 0)
    gemm(kind, 3, 3, 0, "CCC", 1, 2)
for kind in "fdFD":
    others(kind, 90)
    others(kind, 260)
print(lib.blis_zen5_installed())
