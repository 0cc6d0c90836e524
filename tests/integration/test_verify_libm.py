"""The checks of libm: they pass where amdlibm-compat is called, and fail where it is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.checking import checked, compiled
from stacks import pipeline
from stacks.variant import load_variant

Prefix = Callable[[str, str], Path]

LIAR = """
#include <cmath>
extern "C" void amd_vrsa_expf(int n, float *x, float *z) {
    for (int i = 0; i < n; i++) z[i] = 1.001f * expf(x[i]);
}
"""


@pytest.fixture
def fast(prefix: Prefix) -> Path:
    """Give an environment whose loops call amdlibm-compat."""
    return prefix("theano-1.0.5", "openblas-amdlibm")


def test_array_functions_that_are_called(fast: Path) -> None:
    found = checked(fast, "libm", "loops", "accuracy", "registers")
    assert [check.status for check in found] == ["pass"] * 4
    assert found[0].detail.startswith("amdlibm-compat 1.0 (not AMD's)")


def test_array_functions_that_are_turned_off(fast: Path) -> None:
    libm, loops, accuracy = checked(
        fast, "libm", "loops", "accuracy", THEANO_FLAGS="lib.amdlibm=False"
    )
    assert (libm.status, loops.status, accuracy.status) == ("fail", "skip", "skip")
    assert "lib.amdlibm is off (THEANO_FLAGS): no array function is called" in libm.detail
    assert libm.mend == "take lib.amdlibm=False out of THEANO_FLAGS"


def test_array_functions_that_lie(fast: Path, tmp_path: Path) -> None:
    liar = compiled(fast, tmp_path, "libliar.so", LIAR)
    libm, accuracy = checked(fast, "libm", "accuracy", LD_PRELOAD=str(liar))
    assert libm.status == accuracy.status == "fail"
    assert "found unknown library, libliar.so" in libm.detail
    assert "amd_vrsa_expf" in accuracy.detail and "ULP" in accuracy.detail
    assert libm.mend == accuracy.mend == f"LD_PRELOAD leads to {liar}: take that out of it"


def test_loops_that_the_header_leaves_alone(fast: Path) -> None:
    (loops,) = checked(fast, "loops", THEANO_FLAGS="gcc.cxxflags=-DAMDLIBM_COMPAT_NO_SIMD")
    assert loops.status == "fail"
    assert loops.detail == "tanh calls the C library's function"
    assert loops.mend and "take AMDLIBM_COMPAT_NO_SIMD" in loops.mend


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("include/amdlibm.h", "no header amdlibm.h where the compiler looks"),
        ("lib/libamdlibm.so", "no libamdlibm.so where the linker or the loader looks"),
    ],
)
def test_a_header_or_a_library_that_is_gone(tmp_path: Path, missing: str, said: str) -> None:
    variant = load_variant("openblas-amdlibm", "theano-1.0.5")
    place = pipeline.make_environment(variant, tmp_path / "environment")
    (place / missing).unlink()
    (libm,) = checked(place, "libm")
    assert libm.status == "fail"
    assert libm.detail == f"exp does not compile: there is {said}"
    assert libm.mend == "build the environment anew"
