"""Run in an environment: what libblas_threads does to the library behind it. Prints JSON.

Argument: the path of libblas_threads. No time is part of the result, so it holds on any machine.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy  # type: ignore[import-not-found]
from scipy.linalg import blas  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
bindings, library = (importlib.import_module(f"verify.blas.{n}") for n in ("bindings", "library"))

RANDOM = numpy.random.RandomState(0)
KINDS = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}


def array(kind: str, *shape: int) -> Any:
    values = RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)
    return numpy.asfortranarray((values if kind in "cz" else values.real).astype(KINDS[kind]))


def routines(kind: str, size: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, result, what it should be) of each routine; `size` decides its work."""
    a, b, c = (array(kind, size, size) for _ in range(3))
    x, y = array(kind, size * size), array(kind, size * size)
    triangle = numpy.tril(a) + 10 * size * numpy.eye(size, dtype=a.dtype)
    symmetric = a + a.T

    def get(name: str) -> Any:
        return getattr(blas, kind + name)

    yield "gemm", get("gemm")(2, a, b, 3, c), 2 * numpy.einsum("ij,jk->ik", a, b) + 3 * c
    yield "symm", get("symm")(1, symmetric, b), numpy.einsum("ij,jk->ik", symmetric, b)
    yield "syrk", numpy.triu(get("syrk")(1, a)), numpy.triu(numpy.einsum("ij,kj->ik", a, a))
    yield "trmm", get("trmm")(1, triangle, b, lower=1), numpy.einsum("ij,jk->ik", triangle, b)
    solved = get("trsm")(1, triangle, b, lower=1)
    yield "trsm", numpy.einsum("ij,jk->ik", triangle, solved), b
    yield "gemv", get("gemv")(1, a, x[:size]), (a * x[:size]).sum(1)
    yield "axpy", get("axpy")(x, y.copy(), a=2), 2 * x + y
    yield "scal", get("scal")(3, x.copy()), 3 * x
    if kind in "sd":
        yield "ger", get("ger")(1, x[:size], y[:size]), numpy.outer(x[:size], y[:size])
        yield "symv", get("symv")(1, symmetric, x[:size]), (symmetric * x[:size]).sum(1)
        yield "dot", get("dot")(x, y), (x * y).sum()
    # NumPy calls these by their C names.
    yield "cblas dot", numpy.dot(x, y), (x * y).sum()
    yield "cblas vdot", numpy.vdot(x, y), (x.conj() * y).sum()
    yield "cblas gemm", numpy.dot(a, b), numpy.einsum("ij,jk->ik", a, b)
    yield "cblas syrk", numpy.dot(a, a.T), numpy.einsum("ij,kj->ik", a, a)
    yield "cblas gemv", numpy.dot(a, x[:size]), (a * x[:size]).sum(1)


def wrong() -> list[str]:
    """Return the names of the routines with wrong numbers, of several sizes, repeatedly."""
    found = set()
    for kind in sorted(KINDS):
        for size in (4, 150):
            for _ in range(3):
                for name, result, expected in routines(kind, size):
                    # Of a dot product the sum may be small, and its terms are not.
                    scale = numpy.abs(expected).max() + size
                    error = numpy.abs(result - expected).max() / scale
                    if not error <= (1e-3 if kind in "sc" else 1e-10):
                        found.add(f"{kind} {name} {size}")
    return sorted(found)


def in_child(work: Callable[[], Any]) -> Any:
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


def main(path: str) -> None:
    """Print what was seen."""

    def count() -> int | None:
        threads: int | None = library.identify(path).threads
        return threads

    matrix = numpy.ones((200, 200))
    seen = {"before": count(), "wrong": wrong(), "after": count()}
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
    print(json.dumps(seen))


main(str(Path(sys.argv[1]).resolve()))
