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


class Gemm:
    """An op; others are of other classes."""


class Dot:
    pass


def check(
    op: type = Gemm,
    implementation: str | None = "C",
    *,
    through_numpy: bool = False,
    errors: tuple[str | None, str | None] = (None, None),
    is_baseline: bool = False,
) -> Any:
    nodes = [(SimpleNamespace(op=op()), implementation)]
    where = context(
        is_baseline=is_baseline,
        operations={
            (GEMM.name, dtype): operations.CompiledOperation(
                None, error, through_numpy, error and "a fix"
            )
            for dtype, error in zip(operations.DTYPES, errors, strict=True)
        },
    )
    where.framework.implementations = lambda function: nodes
    return operations.check(where, GEMM)


def test_c_code_that_calls_a_blas_library_passes() -> None:
    found = check()
    assert (found.status, found.detail) == ("pass", "float64 Gemm; float32 Gemm")


@pytest.mark.parametrize(
    ("options", "detail"),
    [
        ({"implementation": "Py"}, "float64 Gemm is Py; float32 Gemm is Py"),
        ({"implementation": None}, "float64 Gemm is never run; float32 Gemm is never run"),
        ({"through_numpy": True}, "Gemm is C, but it calls NumPy, not a BLAS library"),
        ({"op": Dot}, "float64 is not in the compiled graph, which has: Dot"),
    ],
)
def test_slow_operations_fail(options: dict[str, Any], detail: str) -> None:
    found = check(**options)
    assert found.status == "fail"
    assert detail in found.detail
    assert "ldflags = " in found.fix


def test_an_operation_that_the_framework_lacks_is_skipped() -> None:
    """PyTensor has no Ger since 3.3."""
    where = context(is_baseline=False)
    where.framework.has_blas_op = lambda classes: classes != ("Gemm",)
    found = operations.check(where, GEMM)
    assert (found.status, found.detail.partition(":")[0]) == (
        "skip",
        "this version has no such operation",
    )


def test_one_error_of_both_precisions_is_named_once() -> None:
    found = check(errors=("cannot find -lx", "cannot find -lx"))
    assert found.detail == "float64 and float32: does not compile: cannot find -lx"
    assert found.fix == "a fix"
    found = check(errors=("cannot find -lx", None))
    assert found.detail == "float64 does not compile: cannot find -lx; float32 Gemm"


def test_the_baseline_passes_with_slow_operations_only() -> None:
    found = check(implementation="Py", is_baseline=True)
    assert found.status == "pass"
    assert found.detail.startswith("slow path, as expected of the baseline: float64 Gemm is Py")
    found = check(is_baseline=True)
    assert found.status == "fail"
    assert found.detail.startswith("this is not the baseline: ")


def test_an_operation_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def function(*arguments: object) -> None:
        calls.append(arguments)

    monkeypatch.setattr(operations.numpy, "ones", lambda shape, dtype: None, raising=False)
    where = context(operations={})
    where.framework.flag = {"compiledir": "/nowhere"}.get
    where.framework.function = lambda inputs, output: function
    dot = operations.Operation("Dot", ("Dot",), (), lambda by: None)
    first = operations.compiled(where, dot, "float64")
    assert operations.compiled(where, dot, "float64") is first
    assert (first.error, first.through_numpy, len(calls)) == (None, True, 1)


def test_an_operation_that_does_not_compile_has_an_error() -> None:
    def function(inputs: object, output: object) -> None:
        raise ValueError("g++\nerror: unknown type")

    where = context(operations={}, folder=None, culprit=None, expectation=None)
    where.framework.function = function
    dot = operations.Operation("Dot", ("Dot",), (), lambda by: None)
    assert operations.compiled(where, dot, "float64").error == "ValueError: error: unknown type"
    assert operations.compiled(where, dot, "float64").fix.startswith("not recognised")


CASES = len(operations.SHAPES) * len(operations.LAYOUTS) ** 2 + len(operations.SCALARS) + 1


@pytest.fixture(autouse=True)
def right_on_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_error_on_all_threads", lambda function, dtype: None)


def compiled_gemm(error: str | None = None) -> SimpleNamespace:
    compiled = operations.CompiledOperation(None, error, False, None)
    known = {("Gemm", dtype): compiled for dtype in operations.DTYPES}
    return context(operations=known, products={}, serving=None, has_ldflags=True)


def test_all_cases_of_both_precisions_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_error", lambda *case: None)
    check = operations.check_numbers(compiled_gemm(), GEMM)
    assert (check.status, check.detail) == ("pass", f"{2 * CASES} cases, float64 and float32")


def test_a_product_that_is_wrong_on_all_threads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_error", lambda *case: None)
    monkeypatch.setattr(operations, "_error_on_all_threads", lambda function, dtype: "it is wrong")
    monkeypatch.setattr(operations, "library_fix", lambda context: "a fix")
    check = operations.check_numbers(compiled_gemm(), GEMM)
    assert (check.status, check.detail, check.fix) == ("fail", "float64, it is wrong", "a fix")


def test_the_first_wrong_case_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        operations, "_error", lambda *given: "off by 1" if "strided" in given[-1][1] else None
    )
    check = operations.check_numbers(compiled_gemm(), GEMM)
    assert check.status == "fail" and "[blas]\nldflags = " in check.fix
    assert check.detail == (
        "float64, 1 x 1 x 1, stored by rows and strided, alpha -1.3, beta 0.4: off by 1"
    )


def test_empty_matrices_may_be_refused_and_others_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(smallest: int) -> None:
        def error(*given: Any) -> None:
            if min(given[-1][0]) <= smallest:
                raise ValueError

        monkeypatch.setattr(operations, "_error", error)

    refuse(0)
    assert operations.check_numbers(compiled_gemm(), GEMM).detail.endswith(
        "refused by the framework"
    )
    refuse(1)
    with pytest.raises(ValueError):
        operations.check_numbers(compiled_gemm(), GEMM)


def test_an_operation_that_does_not_compile_is_skipped() -> None:
    check = operations.check_numbers(compiled_gemm("no compiler"), GEMM)
    assert (check.status, check.detail) == ("skip", "float64 does not compile: no compiler")
