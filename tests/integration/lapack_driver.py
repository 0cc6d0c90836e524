"""Run in an environment: LAPACK behind libblas_threads. Prints JSON.

fortran.c: the rows of its table that disagree with SciPy's own declarations.
infos: `info` of input that has no solution.
numbers: what is wrong with the results, in all precisions, and of several threads at once.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy  # type: ignore[import-not-found]
from scipy.linalg import (  # type: ignore[import-untyped]
    cython_blas,
    cython_lapack,
    lapack,
    lu_factor,
    lu_solve,
)

KINDS = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
PREFIXES = {"ALL": "sdcz", "REAL": "sd", "COMPLEX": "cz", "BOTH": "sdcz"}
ROW = re.compile(
    r"(ALL|REAL|COMPLEX|BOTH)\((BLAS|LAPACK), (\w+), (?:([a-z]\w+), )?(\d+), (\w+), (.*)\)"
)


def arguments(name: str) -> list[str]:
    """Return the types of a routine's arguments, as SciPy declares them."""
    for module in (cython_blas, cython_lapack):
        if name in module.__pyx_capi__:
            get = ctypes.pythonapi.PyCapsule_GetName
            get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
            text = get(module.__pyx_capi__[name]).decode()
            return [word.strip() for word in text[text.index("(") + 1 : -1].split(",")]
    return []


def disagreements(table: Path) -> list[str]:
    """Return the routines whose number or kinds of arguments are not those of SciPy."""
    found, rows = [], 0
    for match in map(ROW.fullmatch, table.read_text().splitlines()):
        if not match:
            continue
        which, group, real, complex_name, count, after, rest = match.groups()
        macros = {"EIGEN(1, 3)": "I(3)", "EIGEN(0, 2)": "I(2)", "QR": "I(0)"}
        for macro, meaning in macros.items():
            rest = rest.replace(macro, meaning)
        letters = {
            int(n) for text in re.findall(r"\bL+\(([\d, ]+)\)", rest) for n in text.split(",")
        }
        integers = {int(n) for n in re.findall(r"\bI\((\d+)\)", rest)}
        for prefix in PREFIXES[which]:
            name = prefix + (complex_name if complex_name and prefix in "cz" else real)
            types, rows = arguments(name), rows + 1
            expected = dict.fromkeys(letters, "char *") | dict.fromkeys(integers, "int *")
            if group == "LAPACK":
                expected[int(count) - 1] = "int *"
                if after != "NONE":
                    expected[int(after)] = "int *"
            if len(types) != int(count) or any(types[n] != kind for n, kind in expected.items()):
                found.append(name)
    return found if rows > 200 else ["the table was not read"]


def matrix(kind: str, size: int, seed: int = 0) -> Any:
    random = numpy.random.RandomState(seed)
    values = random.standard_normal((size, size)) + 1j * random.standard_normal((size, size))
    return numpy.asfortranarray((values if kind in "cz" else values.real).astype(KINDS[kind]))


def checks(kind: str, size: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, result, what it should be)."""
    a, b = matrix(kind, size), matrix(kind, size, 1)
    conjugate = numpy.conj(a.T)
    positive = a @ conjugate + size * numpy.eye(size, dtype=a.dtype)
    hermitian = a + conjugate

    def get(name: str) -> Any:
        return getattr(lapack, kind + name)

    factor, info = get("potrf")(positive, lower=1, clean=1)
    yield "potrf", factor @ numpy.conj(factor.T), positive
    yield "potrf info", info, 0
    full = numpy.tril(get("potri")(factor, lower=1)[0])
    full = full + numpy.conj(numpy.tril(full, -1)).T
    yield "potri", full @ positive, numpy.eye(size)
    yield "posv", positive @ get("posv")(positive, b)[1], b
    yield "trtrs", factor @ get("trtrs")(factor, b, lower=1)[0], b
    yield "trtri", get("trtri")(factor, lower=1)[0] @ factor, numpy.eye(size)
    yield "gesv", a @ get("gesv")(a, b)[2], b
    yield "lu", a @ lu_solve(lu_factor(a), b), b
    yield "solve", a @ numpy.linalg.solve(a, b), b
    yield "non-contiguous", a[::2, ::2] @ numpy.linalg.solve(a[::2, ::2], b[::2]), b[::2]
    yield "inv", numpy.linalg.inv(a) @ a, numpy.eye(size)
    q, r = numpy.linalg.qr(a)
    yield "qr", q @ r, a
    u, s, vt = numpy.linalg.svd(a)
    yield "gesdd", (u * s) @ vt, a
    u, s, vt = get("gesvd")(a)[:3]
    yield "gesvd", (u * s) @ vt, a
    w, v = numpy.linalg.eigh(hermitian)
    yield "eigh", hermitian @ v, v * w
    driver = "heev" if kind in "cz" else "syev"
    for name in ("", "r", "d") if hasattr(lapack, kind + driver + "d") else ("", "r"):
        found = get(driver + name)(hermitian)
        yield driver + name, hermitian @ found[1], found[1] * found[0]
    w, v = numpy.linalg.eig(a)
    yield "eig", a @ v, v * w
    yield "lstsq", a @ numpy.linalg.lstsq(a, b, rcond=None)[0], b


def wrong() -> list[str]:
    """Return the checks with wrong numbers, of several sizes, repeatedly."""
    found = set()
    for kind in sorted(KINDS):
        for size in (1, 4, 130):
            for _ in range(2):
                for name, result, expected in checks(kind, size):
                    scale = numpy.abs(expected).max() + size
                    error = numpy.abs(numpy.asarray(result) - expected).max() / scale
                    if not error <= (5e-3 if kind in "sc" else 1e-9):
                        found.add(f"{kind} {name} {size}")
    return sorted(found)


def infos() -> dict[str, Any]:
    """Return `info` of input that has no solution, and of empty matrices."""
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
    }


def at_once() -> list[str]:
    """Return what several threads found wrong."""
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.extend(wrong())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(set(found))


if sys.argv[1] == "infos":
    print(json.dumps(infos()))
elif sys.argv[1] == "numbers":
    print(json.dumps([wrong(), at_once()]))
else:
    print(json.dumps(disagreements(Path(sys.argv[1]))))
