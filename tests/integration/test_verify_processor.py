"""Slow kernels, and code that leaves the vector registers in use, fail for that reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.checking import checked
from integration.conftest import Prefix
from integration.programs import result
from stacks.core.disk import REPOSITORY


@pytest.mark.parametrize("flavour", ["openblas", "blis"])
def test_the_environment_has_the_kernels_of_this_processor(prefix: Prefix, flavour: str) -> None:
    _, _, kernels = checked(prefix("theano-1.0.5", flavour), "library", "speed", "kernels")
    assert kernels.status == "pass"


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


def test_the_program_for_processors_on_which_glibc_frees_them(
    prefix: Prefix, tmp_path: Path
) -> None:
    found = result(
        prefix("theano-1.0.5", "openblas"),
        *(REPOSITORY / "verify", "registers-probe", "theano", tmp_path),
        GLIBC_TUNABLES="glibc.cpu.hwcaps=Prefer_No_VZEROUPPER",
        THEANO_FLAGS=f"gcc.cxxflags=-mno-vzeroupper,base_compiledir={tmp_path}/compiled",
    )
    assert found["count"] == 18 and "sqr" in found["unclean"]
