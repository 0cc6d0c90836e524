"""The check of numbers; the numbers themselves are tested on real environments."""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context as unit_context

numerics = suite_module("blas.numerics")
operations = suite_module("blas.operations")
GEMM = operations.OPERATIONS[0]
CASES = len(numerics.SHAPES) * len(numerics.LAYOUTS) ** 2 + len(numerics.SCALARS) + 1


@pytest.fixture(autouse=True)
def right_on_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerics, "_error_on_all_threads", lambda function, dtype: None)


def context(error: str | None = None) -> SimpleNamespace:
    compiled = operations.CompiledOperation(None, error, False, None)
    known = {("Gemm", dtype): compiled for dtype in operations.DTYPES}
    return unit_context(operations=known, products={}, serving=None, has_ldflags=True)


def test_all_cases_of_both_precisions_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerics, "_error", lambda *case: None)
    check = numerics.check(context(), GEMM)
    assert (check.status, check.detail) == ("pass", f"{2 * CASES} cases, float64 and float32")


def test_a_product_that_is_wrong_on_all_threads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerics, "_error", lambda *case: None)
    monkeypatch.setattr(numerics, "_error_on_all_threads", lambda function, dtype: "it is wrong")
    monkeypatch.setattr(numerics, "library_fix", lambda context: "a fix")
    check = numerics.check(context(), GEMM)
    assert (check.status, check.detail, check.fix) == ("fail", "float64, it is wrong", "a fix")


def test_the_first_wrong_case_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        numerics, "_error", lambda *given: "off by 1" if "strided" in given[-1][1] else None
    )
    check = numerics.check(context(), GEMM)
    assert check.status == "fail" and "[blas]\nldflags = " in check.fix
    assert check.detail == (
        "float64, 1 x 1 x 1, stored by rows and strided, alpha -1.3, beta 0.4: off by 1"
    )


def test_empty_matrices_may_be_refused_and_others_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(smallest: int) -> None:
        def error(*given: Any) -> None:
            if min(given[-1][0]) <= smallest:
                raise ValueError

        monkeypatch.setattr(numerics, "_error", error)

    refuse(0)
    assert numerics.check(context(), GEMM).detail.endswith("refused by the framework")
    refuse(1)
    with pytest.raises(ValueError):
        numerics.check(context(), GEMM)


def test_an_operation_that_does_not_compile_is_skipped() -> None:
    check = numerics.check(context("no compiler"), GEMM)
    assert (check.status, check.detail) == ("skip", "float64 does not compile: no compiler")
