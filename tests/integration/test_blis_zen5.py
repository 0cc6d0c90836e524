"""BLIS with the kernels of recipes/libblis: right numbers, in force where they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.checking import checked
from integration.conftest import Prefix
from integration.programs import CPUINFO, avx512, printed

IS_ZEN5 = "AuthenticAMD" in CPUINFO and "cpu family\t: 26\n" in CPUINFO
# BLIS 0.9.0's number of kernels for AVX-512.
SKX = "0"


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("choice", [pytest.param("1", marks=avx512), "0"])
def test_numbers(prefix: Prefix, choice: str, threads: str) -> None:
    place = prefix("theano-1.0.5", "blis")
    variables = {"THEANO_STACKS_BLIS_ZEN5": choice, "BLIS_NUM_THREADS": threads}
    if choice == "1":
        variables["BLIS_ARCH_TYPE"] = SKX
    driver = Path(__file__).with_name("zen5_driver.py")
    assert printed(place, driver, place / "lib/libblis.so.4", **variables) == choice + "\n"


def test_zen5_kernels_are_used_on_zen5_only(prefix: Prefix) -> None:
    (check,) = checked(prefix("theano-1.0.5", "blis"), "library")
    assert check.status == "pass"
    assert ("zen5 kernels" in check.detail) == IS_ZEN5


@avx512
def test_zen5_kernels_can_be_turned_off(prefix: Prefix) -> None:
    (check,) = checked(
        prefix("theano-1.0.5", "blis"), "library", THEANO_STACKS_BLIS_ZEN5="0", BLIS_ARCH_TYPE=SKX
    )
    assert "skx kernels" in check.detail


def test_kernels_chosen_by_the_user_are_kept(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "blis")
    (check,) = checked(place, "library", THEANO_STACKS_BLIS_ZEN5="1", BLIS_ARCH_TYPE="3")
    assert "haswell kernels" in check.detail
