"""Whether the BLAS operations are C code that calls a BLAS library, and the check of numbers.

The numbers themselves are tested on real environments.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

operations = suite_module("blas.operations")
GEMM = operations.OPERATIONS[0]
NOT_LINKED = "cannot find -lx"
LINK, FIX = "ldflags = ", "a fix"


class Gemm:
    """An op; others are of other classes."""


class Dot:
    pass


@pytest.mark.parametrize(
    ("op", "implementation", "more", "detail", "fix"),
    [
        (Gemm, "C", {}, "float64 Gemm; float32 Gemm", None),
        # Slow operations fail.
        (Gemm, "Py", {}, "float64 Gemm is Py; float32 Gemm is Py", LINK),
        (Gemm, None, {}, "float64 Gemm is never run; float32 Gemm is never run", LINK),
        (Gemm, "C", {"numpy": True}, "Gemm is C, but it calls NumPy, not a BLAS library", LINK),
        (Dot, "C", {}, "float64 is not in the compiled graph, which has: Dot", LINK),
        # One error of both precisions is named once.
        (
            Gemm,
            "C",
            {"errors": (NOT_LINKED, NOT_LINKED)},
            f"float64 and float32: does not compile: {NOT_LINKED}",
            FIX,
        ),
        (
            Gemm,
            "C",
            {"errors": (NOT_LINKED, None)},
            f"float64 does not compile: {NOT_LINKED}; float32 Gemm",
            FIX,
        ),
        # The baseline has slow ones only.
        (Gemm, "Py", {"baseline": True}, "slow path, as expected of the baseline: float64", None),
        (Gemm, "C", {"baseline": True}, "this is not the baseline: ", LINK),
    ],
)
def test_operations_are_c_code_that_calls_a_blas_library(
    op: type, implementation: str | None, more: dict[str, Any], detail: str, fix: str | None
) -> None:
    compiled = {
        (GEMM.name, dtype): operations.CompiledOperation(
            None, error, more.get("numpy", False), error and FIX
        )
        for dtype, error in zip(operations.DTYPES, more.get("errors", (None, None)), strict=True)
    }
    where = context(is_baseline=more.get("baseline", False), operations=compiled)
    where.framework.implementations = lambda _: [(SimpleNamespace(op=op()), implementation)]
    found = operations.check(where, GEMM)
    assert (found.status, detail in found.detail) == ("fail" if fix else "pass", True)
    assert (fix or "") in (found.fix or "")


def test_an_operation_that_the_framework_lacks_is_skipped() -> None:
    """PyTensor has no Ger since 3.3."""
    where = context(is_baseline=False)
    where.framework.has_blas_op = lambda classes: classes != ("Gemm",)
    found = operations.check(where, GEMM)
    assert (found.status, found.detail[:34]) == ("skip", "this version has no such operation")


def test_an_operation_is_compiled_once_and_may_have_an_error() -> None:
    calls: list[object] = []
    where = context({"compiledir": "/nowhere", "cxx": "g++"}, operations={}, culprit=None)
    where.framework.function = lambda inputs, output: lambda *values: calls.append(values)
    dot = operations.Operation("Dot", ("Dot",), (), lambda by: None)
    first = operations.compiled(where, dot, "float64")
    assert operations.compiled(where, dot, "float64") is first
    assert (first.error, first.through_numpy, len(calls)) == (None, True, 1)

    def fail(inputs: object, output: object) -> None:
        raise ValueError("g++\nerror: unknown type")

    where.framework.function = fail
    failed = operations.compiled(where, dot, "float32")
    assert failed.error == "ValueError: error: unknown type"
    assert failed.fix.startswith("not recognised")


CASES = len(operations.CASES) + 1
FIRST = "float64, 1 x 1 x 1, stored by rows and strided, alpha -1.3, beta 0.4: off by 1"


def strided(shape: Any, layouts: Any) -> str | None:
    return "off by 1" if "strided" in layouts else None


def refused(shape: Any, layouts: Any) -> None:
    if 0 in shape:
        raise ValueError


def right(shape: Any, layouts: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("error", "on_all_threads", "uncompiled", "status", "detail"),
    [
        (right, None, None, "pass", f"{2 * CASES} cases, float64 and float32"),
        (right, "it is wrong", None, "fail", "float64, it is wrong"),
        (strided, None, None, "fail", FIRST),
        (
            refused,
            None,
            None,
            "pass",
            f"{2 * CASES} cases, float64 and float32; empty matrices are ",
        ),
        (right, None, "no compiler", "skip", "float64 does not compile: no compiler"),
    ],
)
def test_the_numbers_of_all_cases(
    error: Any,
    on_all_threads: str | None,
    uncompiled: str | None,
    status: str,
    detail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operations, "_error", lambda *given: error(*given[-1][:2]))
    monkeypatch.setattr(operations, "_error_on_all_threads", lambda *_: on_all_threads)
    compiled = operations.CompiledOperation(None, uncompiled, False, None)
    known = {("Gemm", dtype): compiled for dtype in operations.DTYPES}
    where = context(operations=known, products={}, serving=None, has_ldflags=True)
    check = operations.check_numbers(where, GEMM)
    assert check.status == status and check.detail.startswith(detail)
    assert (LINK in (check.fix or "")) is (status == "fail")


def test_other_matrices_than_empty_ones_may_not_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> None:
        raise ValueError

    monkeypatch.setattr(operations, "_error", refuse)
    compiled = operations.CompiledOperation(None, None, False, None)
    where = context(operations={("Gemm", "float64"): compiled}, products={})
    with pytest.raises(ValueError):
        operations.check_numbers(where, GEMM)
