"""NumPy and SciPy on the BLAS of each conda flavour: right numbers, one library."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.programs import printed

Prefix = Callable[[str, str], Path]

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
