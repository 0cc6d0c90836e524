"""A library that was made to take slow kernels fails, and for that reason."""

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.checking import checked

Prefix = Callable[[str, str], Path]

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
