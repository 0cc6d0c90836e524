"""NumPy and SciPy on each flavour's BLAS: every function is there, right numbers, one library."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from integration.conftest import Prefix
from integration.programs import printed

# What calls BLAS and LAPACK in every way that libraries differ in: functions that return complex
# or single numbers, workspaces, index arrays.
PROGRAM = """
import numpy as np, scipy.linalg as sl, scipy.sparse as sp, scipy.sparse.linalg as ss
from numpy.distutils import __config__ as config
r = np.random.RandomState(0)
a = r.rand(60, 60) + 60 * np.eye(60)
b, z, y = r.rand(60), r.rand(60) + 1j * r.rand(60), r.rand(60) + 1j * r.rand(60)
assert np.allclose(a.dot(np.linalg.solve(a, b)), b)
for kind in (float, complex):
    assert sl.eigh(np.array([[2]], kind))[0] == [2]
w, v = np.linalg.eigh(a + a.T)
assert np.allclose((v * w).dot(v.T), a + a.T)
u, s, t = np.linalg.svd(a)
assert np.allclose((u * s).dot(t), a)
for kind in (np.complex64, np.complex128):
    p, q = z.astype(kind), y.astype(kind)
    dotc, dotu = sl.blas.get_blas_funcs(["dotc", "dotu"], (p,))
    assert np.allclose(dotc(p, q), np.vdot(p, q), 1e-5)
    assert np.allclose(dotu(p, q), (p * q).sum(), 1e-5)
f = b.astype("f")
assert np.allclose([sl.blas.sdot(f, f), sl.blas.snrm2(f) ** 2], [b.dot(b)] * 2, 1e-5)
c = a + 1j * r.rand(60, 60)
assert np.allclose(c.dot(sl.lu_solve(sl.lu_factor(c), z)), z)
eigenvalues = sl.eigvals(c)
assert np.allclose(eigenvalues.sum(), np.trace(c))
largest = ss.eigs(sp.csr_matrix(c), k=3, return_eigenvectors=False)
assert np.allclose(sorted(abs(largest)), sorted(abs(eigenvalues))[-3:])
x, _ = ss.bicg(sp.csr_matrix(c), z)
assert np.allclose(c.dot(x), z, atol=1e-3)
assert np.allclose(ss.spsolve(sp.csc_matrix(a), b), np.linalg.solve(a, b))
print(config.blas_opt_info["package"][0])
"""


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
@pytest.mark.parametrize("flavour", ["openblas", "blis", "mkl"])
def test_numbers_and_show_config(prefix: Prefix, framework: str, flavour: str) -> None:
    output = printed(prefix(framework, flavour), "-c", PROGRAM).strip()
    assert output.startswith("libblas-3.9.0-") and output.endswith(f"_{flavour}")


def settings_of(place: Path, names: str, **variables: str) -> list[str]:
    code = f"import os; print([os.environ.get(n) for n in {names.split()!r}])"
    done = subprocess.run(
        [place / "bin/python", "-c", code],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return [word.strip(" '") for word in done.stdout.strip()[1:-1].split(",")]


def test_mkl_has_its_variables_when_python_is_started_by_its_path(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "mkl")
    names = "MKL_INTERFACE_LAYER MKL_THREADING_LAYER MKL_DISABLE_FAST_MM"
    assert settings_of(place, names) == ["LP64", "GNU", "1"]
    assert settings_of(place, names, MKL_THREADING_LAYER="X") == ["LP64", "X", "1"]


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_blis_uses_all_cores_by_default(prefix: Prefix, framework: str) -> None:
    place = prefix(framework, "blis")
    names = "BLIS_NUM_THREADS OMP_NUM_THREADS"
    counts = settings_of(place, names)
    assert int(counts[0]) >= 1 and counts[1] == "None"
    assert settings_of(place, names, OMP_NUM_THREADS="1") == ["None", "1"]
    assert settings_of(place, names, BLIS_NUM_THREADS="3") == ["3", "None"]


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_environments_with_mkl_stay_below_700_megabytes(prefix: Prefix, framework: str) -> None:
    place = prefix(framework, "mkl")
    records = [json.loads(path.read_bytes()) for path in place.glob("conda-meta/*.json")]
    names = [name for record in records for name in record["files"]]
    assert len(records) >= 10 and len(names) > 1000
    assert sum((place / name).lstat().st_size for name in names) <= 700e6


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
    for program, end in ((MODULES, "loaded\n"), (NUMBERS, "right\n")):
        assert printed(prefix(framework, flavour), "-c", program) == end
