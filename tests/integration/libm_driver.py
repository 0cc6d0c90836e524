"""Try every array function of a libamdlibm.so; print what is wrong with it as JSON.

Run by an environment's own python, which has NumPy. Arguments: the library, the folder of verify/,
and functions of the same kind to try instead.
"""

import ctypes
import importlib
import json
import sys
import types
from typing import Any

import numpy  # type: ignore[import-not-found]


def main(library: str, suite: str, *names: str) -> None:
    """Print [what is wrong, ...]."""
    package = types.ModuleType("verify")
    package.__path__ = [suite]
    sys.modules["verify"] = package
    libm = importlib.import_module("verify.elementwise.libm")
    handle = ctypes.CDLL(library)
    wrong: list[str] = []
    with numpy.errstate(all="ignore"):
        for name in names or libm.ARRAYS:
            function = getattr(handle, name)
            function.restype = None
            error, where = libm.largest_error(function, name)
            if not error <= 1.0:
                wrong.append(f"{name}: {error} ULP at {where}")
            if "pow" not in name:
                wrong += special(function, name) + edges(function, name)
        wrong += [] if names else powers(handle)
    sys.stdout.write(json.dumps(wrong) + "\n")


def types_of(name: str) -> tuple[Any, Any]:
    """Return the type of a function's elements, and a longer one."""
    if "_vrsa_" in name:
        return numpy.float32, numpy.float64
    return numpy.float64, numpy.longdouble


def pointer(array: Any, offset: int = 0) -> ctypes.c_void_p:
    """Return the address of an array's bytes."""
    return ctypes.c_void_p(array.ctypes.data + offset)


def same(found: Any, expected: Any) -> Any:
    """Compare values, infinities, NaN and the signs of zeros; a rounding apart is the same."""
    close = numpy.abs(found - expected) <= numpy.abs(numpy.spacing(expected))
    right = (found == expected) | (numpy.isnan(found) & numpy.isnan(expected)) | close
    zero = (found == 0) & (expected == 0)
    return right & (~zero | (numpy.signbit(found) == numpy.signbit(expected)))


def special(function: Any, name: str) -> list[str]:
    """Try infinities, NaN, zeros, subnormal numbers and the ends of the range."""
    dtype, wide = types_of(name)
    limits = numpy.finfo(dtype)
    least = numpy.nextafter(dtype(0), dtype(1))
    ends = [0, 1, numpy.inf, limits.max, limits.tiny, limits.tiny / 2, least, 100, 800, 1e4, 1e30]
    x = numpy.array([*ends, *(-end for end in ends), numpy.nan], dtype)
    x = numpy.tile(x, 5)
    z = numpy.empty_like(x)
    function(len(x), pointer(x), pointer(z))
    short = name.split("_")[-1]
    short = short[:-1] if dtype is numpy.float32 else short
    expected = getattr(numpy, short)(x.astype(wide)).astype(dtype)
    right = same(z, expected)
    return [f"{name}({x[i]!r}) is {z[i]!r}, not {expected[i]!r}" for i in numpy.where(~right)[0]]


def edges(function: Any, name: str) -> list[str]:
    """Try every small count, any alignment, in place; look at what lies around."""
    dtype, _ = types_of(name)
    size = dtype(0).itemsize
    values = numpy.random.RandomState(0).uniform(0.1, 5, 200).astype(dtype)
    whole = numpy.empty_like(values)
    function(len(values), pointer(values), pointer(whole))
    wrong = []
    for count in [*range(-2, 70), 127, 129]:
        n = max(count, 0)
        for offset in (0, size, 3 * size, size // 2, 1):
            place = numpy.full(200 * size + 64, 171, numpy.uint8)
            place[offset : offset + n * size] = values[:n].view(numpy.uint8)
            function(count, pointer(place, offset), pointer(place, offset))
            found = place[offset : offset + n * size].copy().view(dtype)
            # Few elements may be libm's, which may differ in the last bit.
            if not (
                numpy.abs(found - whole[:n]) <= 1.01 * numpy.spacing(numpy.abs(whole[:n]))
            ).all():
                wrong.append(f"{name}: {count} elements at {offset} are wrong")
            around = numpy.delete(place, slice(offset, offset + n * size))
            if not (around == 171).all():
                wrong.append(f"{name}: {count} elements at {offset}: wrote outside")
    return wrong


def powers(handle: Any) -> list[str]:
    """Try all pairs of special values, in both forms."""
    ends = [0.0, 1, 2, 0.5, 3, numpy.inf, 1e30, 1e-40]
    one = numpy.array([*ends, *(-end for end in ends), numpy.nan], numpy.float32)
    x, y = (array.ravel().copy() for array in numpy.meshgrid(one, one))
    expected = numpy.power(x.astype(numpy.float64), y.astype(numpy.float64)).astype(numpy.float32)
    z = numpy.empty_like(x)
    handle.amd_vrsa_powf.restype = handle.amd_vrsa_powxf.restype = None
    handle.amd_vrsa_powf(len(x), pointer(x), pointer(y), pointer(z))
    wrong = [f"powf({x[i]}, {y[i]}) is {z[i]}" for i in numpy.where(~same(z, expected))[0]]
    for exponent in one:
        x = numpy.tile(one, 3)
        z = numpy.empty_like(x)
        handle.amd_vrsa_powxf(len(x), pointer(x), ctypes.c_float(exponent), pointer(z))
        expected = numpy.power(x.astype(numpy.float64), float(exponent)).astype(numpy.float32)
        wrong += [
            f"powxf({x[i]}, {exponent}) is {z[i]}" for i in numpy.where(~same(z, expected))[0]
        ]
    return wrong


if __name__ == "__main__":
    main(*sys.argv[1:])
