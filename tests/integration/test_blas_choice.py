"""NumPy and SciPy on each flavour's BLAS: every function is there, right numbers, settings."""

import json
from pathlib import Path

import pytest

from integration.checking import checked
from integration.conftest import Prefix
from integration.programs import CPUINFO, avx512, printed, result

FLAVOURS = ("openblas", "blis", "mkl")
DRIVER = Path(__file__).with_name("linear_algebra_driver.py")
BLIS_DRIVER = Path(__file__).with_name("blis_driver.py")
IS_ZEN5 = "AuthenticAMD" in CPUINFO and "cpu family\t: 26\n" in CPUINFO
# BLIS 0.9.0's number of kernels for AVX-512.
SKX = "0"


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(
    "framework", ["theano-1.0.5", "theano-0.8.2", "pytensor-2.38.3", "pytensor-3.3.7"]
)
def test_numbers(prefix: Prefix, framework: str, flavour: str) -> None:
    assert result(prefix(framework, flavour), DRIVER, "numbers") == [[], []]


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_numpy_names_its_library(prefix: Prefix, framework: str, flavour: str) -> None:
    code = "from numpy.distutils import __config__ as c; print(c.blas_opt_info['package'][0])"
    output = printed(prefix(framework, flavour), "-c", code).strip()
    assert output.startswith("libblas-3.9.0-") and output.endswith(f"_{flavour}")


# Loads each module with all of its functions, which the loader otherwise looks up when it likes.
MODULES = """
import ctypes, glob, os
import numpy, scipy
for package in (numpy, scipy):
    for path in glob.glob(os.path.dirname(package.__file__) + "/*/**/*.so", recursive=True):
        ctypes.CDLL(path, mode=os.RTLD_NOW)
print("loaded")
"""


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("framework", ["pytensor-2.38.3", "pytensor-3.3.7"])
def test_each_flavour_has_every_function(prefix: Prefix, framework: str, flavour: str) -> None:
    assert printed(prefix(framework, flavour), "-c", MODULES) == "loaded\n"


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_environments_with_mkl_stay_below_700_megabytes(prefix: Prefix, framework: str) -> None:
    place = prefix(framework, "mkl")
    records = [json.loads(path.read_bytes()) for path in place.glob("conda-meta/*.json")]
    names = [name for record in records for name in record["files"]]
    assert len(records) >= 10 and len(names) > 1000
    assert sum((place / name).lstat().st_size for name in names) <= 700e6


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("choice", [pytest.param("1", marks=avx512), "0"])
def test_numbers_of_blis_with_any_strides(prefix: Prefix, choice: str, threads: str) -> None:
    """With the kernels of recipes/libblis, and without."""
    place = prefix("theano-1.0.5", "blis")
    variables = {"THEANO_STACKS_BLIS_ZEN5": choice, "BLIS_NUM_THREADS": threads}
    if choice == "1":
        variables["BLIS_ARCH_TYPE"] = SKX
    library = place / "lib/libblis.so.4"
    assert result(place, BLIS_DRIVER, library, **variables) == int(choice)
    assert result(place, DRIVER, "products", **variables) == []


@pytest.mark.parametrize(
    ("variables", "kernels"),
    [
        # In force on Zen 5 only; they can be turned off; those that a user chooses are kept.
        ({}, "zen5 kernels" if IS_ZEN5 else ""),
        pytest.param(
            {"THEANO_STACKS_BLIS_ZEN5": "0", "BLIS_ARCH_TYPE": SKX}, "skx kernels", marks=avx512
        ),
        ({"THEANO_STACKS_BLIS_ZEN5": "1", "BLIS_ARCH_TYPE": "3"}, "haswell kernels"),
    ],
)
def test_the_kernels_of_blis(prefix: Prefix, variables: dict[str, str], kernels: str) -> None:
    (check,) = checked(prefix("theano-1.0.5", "blis"), "library", **variables)
    assert kernels in check.detail
    assert variables or (check.status, "zen5 kernels" in check.detail) == ("pass", IS_ZEN5)
