"""The check of the array functions' accuracy; the errors are measured on real environments."""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

accuracy = suite_module("elementwise.libm")
bindings = suite_module("blas.bindings")
libm = suite_module("elementwise.libm")


def check(monkeypatch: pytest.MonkeyPatch, name: str, errors: dict[str, float]) -> Any:
    library = libm.MathLibrary(name, "a library", "/lib/x.so")
    monkeypatch.setattr(libm, "called", lambda context: library)
    monkeypatch.setattr(bindings, "loaded", lambda path: SimpleNamespace(**errors))
    monkeypatch.setattr(accuracy, "largest_error", lambda error, symbol: (error, "0.5"))
    where = context()
    where.framework.amdlibm_flag = "lib.amdlibm"
    return accuracy.check_accuracy(where)


def test_the_largest_error_of_all_functions_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {"amd_vrsa_expf": 0.25, "amd_vrda_log": 0.75, "unknown": 9.0}
    found = check(monkeypatch, libm.COMPAT, errors)
    assert found.status == "pass"
    assert found.detail == "at most 0.75 ULP (amd_vrda_log at 0.5), 20000 samples each"


@pytest.mark.parametrize(("name", "status"), [(libm.COMPAT, "fail"), (libm.AMDS, "pass")])
def test_the_allowed_error_depends_on_the_library(
    name: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = check(monkeypatch, name, {"amd_vrsa_expf": 3.5})
    assert found.status == status
    assert "3.5" in found.detail


def test_without_a_called_library_it_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libm, "called", lambda context: None)
    assert accuracy.check_accuracy(None).status == "skip"
