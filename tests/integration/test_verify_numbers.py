"""Numbers that are wrong, and settings that are slow, in environments that are broken so."""

import re
from pathlib import Path

import pytest

from integration.checking import checked, compiled
from integration.conftest import Prefix

# As a C library whose functions are off by a thousandth.
WRONG = """
#define _GNU_SOURCE
#include <dlfcn.h>
extern "C" double NAME(double x) {
    static double (*right)(double) = (double (*)(double))dlsym(RTLD_NEXT, "NAME");
    return right(x) * 1.001;
}
"""


@pytest.fixture
def good(prefix: Prefix) -> Path:
    """Give an environment in which every check passes."""
    return prefix("theano-1.0.5", "pip-openblas")


def test_right_numbers_pass(good: Path) -> None:
    numbers, cost = checked(good, "numbers", "cost")
    assert (numbers.status, cost.status) == ("pass", "pass")


@pytest.mark.parametrize("option", ["-ffast-math", "-Ofast", "-ffinite-math-only"])
def test_an_option_that_leaves_ieee_s_rules(option: str, good: Path) -> None:
    flags = f"gcc.cxxflags={option}"
    (numbers,) = checked(good, "numbers", expect=None, THEANO_FLAGS=flags)
    assert numbers.status == "fail"
    assert "nan" in numbers.detail
    assert numbers.fix is not None
    assert "gcc.cxxflags" in numbers.fix
    assert option not in numbers.fix.splitlines()[-1]


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_a_preloaded_library_with_wrong_functions(name: str, good: Path, tmp_path: Path) -> None:
    library = compiled(good, tmp_path, "libwrong.so", WRONG.replace("NAME", name))
    (numbers,) = checked(good, "numbers", LD_PRELOAD=str(library))
    assert numbers.status == "fail"
    assert re.match(rf"(float64: )?({name}|sigmoid) (at .* is off by|of )", numbers.detail)
    assert numbers.fix == f"LD_PRELOAD leads to {library}:\nunset LD_PRELOAD"


def test_float16_is_a_warning_with_its_ratio(good: Path) -> None:
    (cost,) = checked(good, "cost", THEANO_FLAGS="floatX=float16")
    assert cost.status == "pass"
    match = re.match(r"floatX=float16: a small function takes ([\d.]+) times", cost.detail)
    assert match
    assert float(match.group(1)) > 1.5


def test_a_fork_that_waits_for_openmp_is_a_warning_with_its_fix(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "pip-default")
    (cost,) = checked(place, "cost", THEANO_FLAGS="openmp=True", OMP_NUM_THREADS="2")
    assert (cost.status, cost.detail) == (
        "pass",
        "openmp=True: a forked process never ends its own loops; before you use multiprocessing, "
        "remove openmp=True from THEANO_FLAGS",
    )
