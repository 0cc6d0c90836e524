"""Code that leaves the vector registers in use fails, and for that reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.checking import checked

Prefix = Callable[[str, str], Path]

FLAVOURS = [
    ("theano-0.8.2", "pip-default"),
    ("theano-0.8.2", "mkl-amdlibm"),
    ("theano-1.0.5", "blis"),
    ("pytensor-3.0.7", "openblas"),
]


@pytest.mark.parametrize(("framework", "flavour"), FLAVOURS)
def test_operations_that_free_them(prefix: Prefix, framework: str, flavour: str) -> None:
    (found,) = checked(prefix(framework, flavour), "registers")
    assert (found.status, found.detail) == ("pass", "free again after each of 17 operations")


def test_loops_compiled_without_vzeroupper(prefix: Prefix) -> None:
    (found,) = checked(
        prefix("theano-1.0.5", "openblas"),
        "registers",
        THEANO_FLAGS="gcc.cxxflags=-mno-vzeroupper",
    )
    assert found.status == "fail"
    assert found.detail.startswith("still in use after ")
    assert "sigmoid" in found.detail and "SSE instructions that come then" in found.detail
    assert found.mend == "take -mno-vzeroupper out of gcc.cxxflags, which are '-mno-vzeroupper'"
