"""Whether the library of array functions is checked, and how much it may be off.

The libraries themselves are tried in tests/integration/test_amdlibm.py and test_fixes.py.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import REPAIR, context

libm = suite_module("elementwise.libm")
bindings = suite_module("blas.bindings")

COMPAT = libm.MathLibrary(libm.COMPAT, "amdlibm-compat 1.0 (not AMD's), AVX2", "/lib/x.so")
AMDS = libm.MathLibrary(libm.AMDS, libm.AMDS, "/lib/x.so")


def where(is_on: bool = True, expected: str | None = None) -> Any:
    """Return a context; is_on: the flag; expected: what the expectation has for it."""
    locked = {"variant": "v", "framework": "f", "packages": [], "flags": {"lib.amdlibm": expected}}
    flags = {"lib.amdlibm": is_on, "compiledir": "/compiled", "cxx": "g++"}
    made = context(flags, expectation=locked if expected else None)
    made.framework.amdlibm_flag = "lib.amdlibm"
    return made


@pytest.mark.parametrize(
    ("is_on", "expected", "is_checked"),
    [(False, None, False), (True, None, True), (False, "False", False), (False, "True", True)],
)
def test_the_library_is_checked_where_it_is_expected(
    is_on: bool, expected: str | None, is_checked: bool
) -> None:
    assert libm.is_expected(where(is_on, expected)) is is_checked


WORST = "at most 0.75 ULP (amd_vrda_log at 0.5), 20000 samples each"
OFF = f"{COMPAT.detail} is off by 3.5 ULP (amd_vrsa_expf at 0.5); 1.0 are allowed"
MANY = {"amd_vrsa_expf": 0.25, "amd_vrda_log": 0.75, "unknown": 9.0}


@pytest.mark.parametrize(
    ("called", "errors", "status", "detail"),
    [
        (COMPAT, MANY, "pass", WORST),
        # The allowed error depends on the library.
        (COMPAT, {"amd_vrsa_expf": 3.5}, "fail", OFF),
        (AMDS, {"amd_vrsa_expf": 3.5}, "pass", "at most 3.50 ULP (amd_vrsa_expf at 0.5)"),
        (None, {}, "skip", "no array function is called"),
    ],
)
def test_the_largest_error_of_all_functions_counts(
    called: Any, errors: dict[str, float], status: str, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [bindings.Binding("/compiled/m.so", "amd_vrsa_expf", "/lib/x.so")] if called else []
    monkeypatch.setattr(bindings, "modules_below", lambda folder: [])
    monkeypatch.setattr(bindings, "bindings_of", lambda *_: calls)
    monkeypatch.setattr(bindings, "loaded", lambda path: SimpleNamespace(**errors))
    monkeypatch.setattr(libm, "identify", lambda path: called)
    monkeypatch.setattr(libm, "largest_error", lambda error, symbol: (error, "0.5"))
    found = libm.check_accuracy(where(expected="True"))
    assert found.status == status and found.detail.startswith(detail)
    assert found.fix == (REPAIR if status == "fail" else None)
