"""Slow kernels, and code that leaves the vector registers in use, fail for that reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.checking import checked
from integration.conftest import Prefix
from integration.programs import result
from stacks.core.disk import REPOSITORY

# BLIS 0.9.0's number of kernels for SSE3.
PENRYN = "5"


@pytest.mark.parametrize("flavour", ["openblas", "blis"])
def test_the_environment_has_the_kernels_of_this_processor(prefix: Prefix, flavour: str) -> None:
    _, _, kernels = checked(prefix("theano-1.0.5", flavour), "library", "speed", "kernels")
    assert kernels.status == "pass"


@pytest.mark.parametrize(
    ("flavour", "variable", "value", "kernel"),
    [
        ("openblas", "OPENBLAS_CORETYPE", "Nehalem", "Nehalem"),
        ("blis", "BLIS_ARCH_TYPE", PENRYN, "penryn"),
    ],
)
def test_slow_kernels(prefix: Prefix, flavour: str, variable: str, value: str, kernel: str) -> None:
    place = prefix("theano-1.0.5", flavour)
    _, speed, kernels = checked(place, "library", "speed", "kernels", **{variable: value})
    assert speed.status == "pass" or speed.fix == kernels.fix
    assert kernels.status == "fail"
    by = f"by {variable}={value}"
    assert kernels.detail.startswith(f"{kernel}, for SSE2, {by}, where this processor has ")
    assert kernels.fix == f"{variable}={value} selects these kernels:\nunset {variable}"


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
    assert found.fix == "remove gcc.cxxflags=-mno-vzeroupper from THEANO_FLAGS"


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
