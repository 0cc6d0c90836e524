# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: UP031
"""BLAS and LAPACK in an environment, called by NumPy and SciPy. Prints JSON.

numbers: the routines with wrong numbers, then those of several threads at once.
products: the routines of BLAS with wrong numbers.
infos LIBRARY: `info` of input that has no solution; whether libblas_threads sets threads.
counts REPOSITORY LIBRARY: what libblas_threads does to the threads of the library behind it.
table FILE: the rows of the table in fortran.c that disagree with SciPy's own declarations.
"""

import ctypes
import importlib
import itertools
import json
import os
import re
import sys
import threading

import numpy
from scipy import sparse
from scipy.linalg import blas, lapack, lu_factor, lu_solve
from scipy.sparse import linalg as sparse_linalg

KINDS = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}


def array(random, kind, *shape):
    """Return random numbers of a precision."""
    values = random.standard_normal(shape) + 1j * random.standard_normal(shape)
    return numpy.asfortranarray((values if kind in "cz" else values.real).astype(KINDS[kind]))


def product(a, b):
    """Return a product of matrices that NumPy computes without BLAS."""
    return numpy.einsum("ij,jk->ik", a, b)


def levels(random, kind, size):
    """Yield (name, result, what it should be) of BLAS; `size` decides its work."""
    a, b, c = (array(random, kind, size, size) for _ in range(3))
    x, y = array(random, kind, size * size), array(random, kind, size * size)
    triangle = numpy.tril(a) + 10 * size * numpy.eye(size, dtype=a.dtype)
    symmetric = a + a.T

    def get(name):
        return getattr(blas, kind + name)

    yield "gemm", get("gemm")(2, a, b, 3, c), 2 * product(a, b) + 3 * c
    yield "symm", get("symm")(1, symmetric, b), product(symmetric, b)
    yield "syrk", numpy.triu(get("syrk")(1, a)), numpy.triu(product(a, a.T))
    for lower, turned in itertools.product((0, 1), repeat=2):
        part = triangle if lower else triangle.T
        factor = part.T if turned else part
        done = get("trmm")(1, part, b, lower=lower, trans_a=turned)
        yield "trmm %d %d" % (lower, turned), done, product(factor, b)
        done = get("trsm")(1, part, b, lower=lower, trans_a=turned)
        yield "trsm %d %d" % (lower, turned), product(factor, done), b
    yield "gemv", get("gemv")(1, a, x[:size]), (a * x[:size]).sum(1)
    yield "axpy", get("axpy")(x, y.copy(), a=2), 2 * x + y
    yield "scal", get("scal")(3, x.copy()), 3 * x
    yield "nrm2", blas.get_blas_funcs("nrm2", (x,))(x) ** 2, (x * x.conj()).sum().real
    # Functions that return complex numbers, in which libraries differ.
    dots = {"dot": x} if kind in "sd" else {"dotu": x, "dotc": x.conj()}
    for name, left in dots.items():
        yield name, blas.get_blas_funcs(name, (x,))(x, y), (left * y).sum()
    if kind in "sd":
        yield "ger", get("ger")(1, x[:size], y[:size]), numpy.outer(x[:size], y[:size])
        yield "symv", get("symv")(1, symmetric, x[:size]), (symmetric * x[:size]).sum(1)
    # NumPy calls these by their C names.
    yield "cblas dot", numpy.dot(x, y), (x * y).sum()
    yield "cblas vdot", numpy.vdot(x, y), (x.conj() * y).sum()
    yield "cblas gemm", numpy.dot(a, b), product(a, b)
    yield "cblas gemm of some rows", numpy.dot(a[::2], b), product(a[::2], b)
    yield "cblas syrk", numpy.dot(a, a.T), product(a, a.T)
    yield "cblas gemv", numpy.dot(a, x[:size]), (a * x[:size]).sum(1)


def drivers(random, kind, size):
    """Yield (name, result, what it should be) of LAPACK."""
    a, b = array(random, kind, size, size), array(random, kind, size, size)
    # Far from singular.
    a = a + 2 * size * numpy.eye(size, dtype=a.dtype)
    dot, identity, conjugate = numpy.dot, numpy.eye(size), numpy.conj(a.T)
    positive, hermitian = dot(a, conjugate), a + conjugate

    def get(name):
        return getattr(lapack, kind + name)

    factor, info = get("potrf")(positive, lower=1, clean=1)
    yield "potrf", dot(factor, numpy.conj(factor.T)), positive
    yield "potrf info", info, 0
    full = numpy.tril(get("potri")(factor, lower=1)[0])
    full = full + numpy.conj(numpy.tril(full, -1)).T
    yield "potri", dot(full, positive), identity
    yield "posv", dot(positive, get("posv")(positive, b)[1]), b
    yield "trtrs", dot(factor, get("trtrs")(factor, b, lower=1)[0]), b
    yield "trtri", dot(get("trtri")(factor, lower=1)[0], factor), identity
    yield "gesv", dot(a, get("gesv")(a, b)[2]), b
    yield "lu", dot(a, lu_solve(lu_factor(a), b)), b
    yield "solve", dot(a, numpy.linalg.solve(a, b)), b
    half = a[::2, ::2]
    yield "solve of some rows", dot(half, numpy.linalg.solve(half, b[::2])), b[::2]
    yield "inv", dot(numpy.linalg.inv(a), a), identity
    q, r = numpy.linalg.qr(a)
    yield "qr", dot(q, r), a
    u, s, vt = numpy.linalg.svd(a)
    yield "gesdd", dot(u * s, vt), a
    if hasattr(lapack, kind + "gesvd"):
        u, s, vt = get("gesvd")(a)[:3]
        yield "gesvd", dot(u * s, vt), a
    w, v = numpy.linalg.eigh(hermitian)
    yield "eigh", dot(hermitian, v), v * w
    driver = "heev" if kind in "cz" else "syev"
    for name in ("", "r", "d"):
        if hasattr(lapack, kind + driver + name):
            values, vectors = get(driver + name)(hermitian)[:2]
            yield driver + name, dot(hermitian, vectors), vectors * values
    w, v = numpy.linalg.eig(a)
    yield "eig", dot(a, v), v * w
    yield "lstsq", dot(a, numpy.linalg.lstsq(a, b, rcond=-1)[0]), b
    if size > 100 and kind in "dz":
        # ARPACK and SuperLU call BLAS from Fortran and from C.
        spread = a + size * numpy.diag(numpy.arange(size))
        largest = sparse_linalg.eigs(sparse.csr_matrix(spread), k=3, return_eigenvectors=False)
        values = numpy.linalg.eigvals(spread)
        yield "eigs", numpy.sort(abs(largest)), numpy.sort(abs(values))[-3:]
        solved = sparse_linalg.spsolve(sparse.csc_matrix(a), b[:, 0])
        yield "spsolve", dot(a, solved), b[:, 0]


def wrong(*groups):
    """Return the routines with wrong numbers, of several sizes."""
    found, random = set(), numpy.random.RandomState(0)
    for routines in groups or (levels, drivers):
        for kind, size in itertools.product(sorted(KINDS), (1, 4, 150)):
            for name, result, expected in routines(random, kind, size):
                # Of a dot product the sum may be small, and its terms are not.
                scale = numpy.abs(expected).max() + size
                error = numpy.abs(result - expected).max() / scale
                if not error <= (1e-3 if kind in "sc" else 1e-10):
                    found.add("%s %s %d" % (kind, name, size))
    return sorted(found)


def numbers():
    """Return what is wrong in one thread, and in two at once."""
    found = []
    threads = [threading.Thread(target=lambda: found.extend(wrong())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [wrong(), sorted(set(found))]


def products():
    """Return the routines of BLAS with wrong numbers, called again as their threads change."""
    return sorted({name for _ in range(3) for name in wrong(levels)})


def infos(path):
    """Return `info` of input that has no solution, and of empty matrices; whether calls adapt."""
    size = 200
    indefinite = numpy.eye(size)
    indefinite[149, 149] = -1
    singular = numpy.eye(size)
    singular[:, 7] = 0
    unknown = numpy.full((size, size), numpy.nan)
    return {
        "indefinite": int(lapack.dpotrf(indefinite)[1]),
        "singular": int(lapack.dgesv(singular, numpy.ones((size, 1)))[3]),
        "nan": int(lapack.dpotrf(unknown)[1]) > 0,
        "wrong argument": int(lapack.dtrtrs(numpy.eye(4), numpy.ones(4), lower=1)[1]),
        "empty": list(numpy.linalg.solve(numpy.ones((0, 0)), numpy.ones((0, 3))).shape),
        "adapt": ctypes.CDLL(path).blas_threads_adapt(),
    }


def in_child(work):
    """Return what `work` returns in a child of fork(2)."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.write(writer, json.dumps(work()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(process, 0)
    return json.loads(text)


def counts(repository, path):
    """Return the numbers of threads at several moments. No time is part of the result."""
    sys.path.insert(0, repository)
    bindings, library = (
        importlib.import_module("verify.blas." + n) for n in ("bindings", "library")
    )
    path = os.path.realpath(path)

    def count():
        return library.identify(path).threads

    matrix = numpy.ones((200, 200))
    seen = {"before": count(), "wrong": products(), "after": count()}
    threads = [
        threading.Thread(target=lambda: [matrix.dot(matrix) for _ in range(20)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    seen["in a child"] = in_child(lambda: [float(matrix.dot(matrix)[0, 0]), count()])
    for thread in threads:
        thread.join()
    seen["after threads"] = count()
    library.set_threads(path, 1)
    matrix.dot(matrix)
    seen["set to one"] = count()
    seen["adapt"] = bindings.loaded(path).blas_threads_adapt()
    return seen


PREFIXES = {"ALL": "sdcz", "REAL": "sd", "COMPLEX": "cz", "BOTH": "sdcz"}
ROW = re.compile(
    r"(ALL|REAL|COMPLEX|BOTH)\((BLAS|LAPACK), (\w+), (?:([a-z]\w+), )?(\d+), (\w+), (.*)\)$"
)
MACROS = {"EIGEN(1, 3)": "I(3)", "EIGEN(0, 2)": "I(2)", "QR": "I(0)"}


def arguments(name):
    """Return the types of a routine's arguments, as SciPy declares them."""
    for module in ("cython_blas", "cython_lapack"):
        capsules = importlib.import_module("scipy.linalg." + module).__pyx_capi__
        if name in capsules:
            get = ctypes.pythonapi.PyCapsule_GetName
            get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
            text = get(capsules[name]).decode()
            return [word.strip() for word in text[text.index("(") + 1 : -1].split(",")]
    return []


def table(path):
    """Return the routines whose number or kinds of arguments are not those of SciPy."""
    found, rows = [], 0
    with open(path) as file:  # noqa: PTH123
        matches = [match for match in map(ROW.match, file.read().splitlines()) if match]
    for match in matches:
        which, group, real, complex_name, count, after, rest = match.groups()
        for macro, meaning in MACROS.items():
            rest = rest.replace(macro, meaning)
        letters = [
            int(n) for text in re.findall(r"\bL+\(([\d, ]+)\)", rest) for n in text.split(",")
        ]
        integers = [int(n) for n in re.findall(r"\bI\((\d+)\)", rest)]
        for prefix in PREFIXES[which]:
            name = prefix + (complex_name if complex_name and prefix in "cz" else real)
            types, rows = arguments(name), rows + 1
            expected = dict.fromkeys(letters, "char *")
            expected.update(dict.fromkeys(integers, "int *"))
            if group == "LAPACK":
                expected[int(count) - 1] = "int *"
                if after != "NONE":
                    expected[int(after)] = "int *"
            if len(types) != int(count) or any(types[n] != kind for n, kind in expected.items()):
                found.append(name)
    return found if rows > 200 else ["the table was not read"]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])) + "\n")
