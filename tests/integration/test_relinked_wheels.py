"""NumPy and SciPy on each flavour's BLAS: every function is there, and the numbers are right."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Prefix = Callable[[str, str], Path]

# Loads each module with all of its functions, which the loader otherwise looks up when it likes.
MODULES = """
import ctypes, glob, os
import numpy, scipy
for package in (numpy, scipy):
    for path in glob.glob(os.path.dirname(package.__file__) + "/*/**/*.so", recursive=True):
        ctypes.CDLL(path, mode=os.RTLD_NOW)
print("loaded")
"""
# Compared with products that NumPy computes without BLAS, and with what defines each result.
NUMBERS = """
import numpy as np
import scipy.linalg
random = np.random.default_rng(0)
for dtype in "fdFD":
    few = 2e-3 if dtype in "fF" else 1e-9
    def draw(*shape):
        parts = random.standard_normal((2, *shape))
        return (parts[0] + 1j * parts[1] if dtype in "FD" else parts[0]).astype(dtype)
    def check(one, other):
        np.testing.assert_allclose(one, other, rtol=few, atol=few)
    for n in (0, 1, 2, 7, 60):
        a, b, v = draw(n, n), draw(n, 5), draw(n)
        for left in (a, a.T, a[::2]):
            check(left @ b, np.einsum("ij,jk->ik", left, b))
            check(left @ v, np.einsum("ij,j->i", left, v))
        check(a @ a.T, np.einsum("ij,kj->ik", a, a))
        check(np.vdot(v, v), (v.conj() * v).sum())
        if n == 0:
            continue
        regular = a / n + np.eye(n, dtype=dtype) * 3
        positive = regular @ regular.conj().T
        check(regular @ np.linalg.solve(regular, b), b)
        check(np.linalg.solve(regular, b), scipy.linalg.solve(regular, b))
        check(np.linalg.inv(regular) @ regular, np.eye(n))
        lower = np.linalg.cholesky(positive)
        check(lower @ lower.conj().T, positive)
        values, vectors = np.linalg.eigh(positive)
        check(vectors * values @ vectors.conj().T, positive)
        left, values, right = np.linalg.svd(regular)
        check(left * values @ right, regular)
        values, vectors = np.linalg.eig(regular)
        check(regular @ vectors, vectors * values)
        q, r = np.linalg.qr(regular)
        check(q @ r, regular)
        assert np.linalg.lstsq(regular, b, rcond=None)[2] == n
        dot = scipy.linalg.blas.get_blas_funcs("dotu" if dtype in "FD" else "dot", (v,))
        check(dot(v, v), (v * v).sum())
    for function, matrix in ((np.linalg.inv, np.zeros), (np.linalg.cholesky, np.zeros)):
        try:
            function(matrix((3, 3), dtype))
        except np.linalg.LinAlgError:
            continue
        raise AssertionError(function)
print("right")
"""


@pytest.mark.parametrize("flavour", ["openblas", "blis", "mkl"])
@pytest.mark.parametrize("framework", ["pytensor-2.38.3", "pytensor-3.3.7"])
def test_each_flavour_has_every_function_and_computes_right(
    prefix: Prefix, framework: str, flavour: str
) -> None:
    python = prefix(framework, flavour) / "bin/python"
    for program, end in ((MODULES, "loaded\n"), (NUMBERS, "right\n")):
        done = subprocess.run(
            [python, "-c", program], capture_output=True, text=True, timeout=300, check=False
        )
        assert (done.returncode, done.stdout) == (0, end), done.stderr
