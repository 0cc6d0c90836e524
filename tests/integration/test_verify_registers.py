"""Code that leaves the vector registers in use fails, and for that reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.checking import checked

Prefix = Callable[[str, str], Path]

FLAVOURS = [
    # Without a BLAS Theano 1.0.5 cannot compile its BatchedDot, in either precision.
    ("theano-1.0.5", "pip-default", 16),
    ("theano-1.0.5", "mkl-amdlibm", 18),
    ("theano-1.0.5", "blis", 18),
    ("pytensor-3.3.7", "openblas", 18),
]


@pytest.mark.parametrize(("framework", "flavour", "count"), FLAVOURS)
def test_operations_that_free_them(
    prefix: Prefix, framework: str, flavour: str, count: int
) -> None:
    (found,) = checked(prefix(framework, flavour), "registers")
    assert found.status == "pass"
    assert found.detail == f"free after each of {count} operations"


def test_loops_compiled_without_vzeroupper(prefix: Prefix) -> None:
    (found,) = checked(
        prefix("theano-1.0.5", "openblas"), "registers", THEANO_FLAGS="gcc.cxxflags=-mno-vzeroupper"
    )
    assert found.status == "fail"
    assert found.detail.startswith("still in use after ")
    assert "sqr" in found.detail and "later SSE instructions" in found.detail
    assert found.fix == "remove -mno-vzeroupper from gcc.cxxflags, which are '-mno-vzeroupper'"
