from __future__ import annotations

from stacks.core.errors import StacksError, UsageError, nearest, unknown


def test_an_error_has_one_line_for_each_part() -> None:
    error = UsageError("x: wrong", expected=1, found=2, fix="do this")
    assert str(error) == "x: wrong\n  expected: 1\n  found:    2\n  fix:      do this"
    assert str(StacksError("x: wrong", found=0)) == "x: wrong\n  found:    0"


def test_exit_codes() -> None:
    assert (StacksError("x").exit_code, UsageError("x").exit_code) == (1, 2)


def test_the_nearest_name_in_any_case() -> None:
    assert nearest("OpenBLAS", ["mkl", "openblas"]) == "openblas"
    assert nearest("floatx", ["floatX", "device"]) == "floatX"
    assert nearest("blis", ["mkl", "openblas-amdlibm"]) is None


def test_an_unknown_name() -> None:
    assert str(unknown("variant", "mlk", ["openblas", "mkl"], where="a.yaml:3")) == (
        "a.yaml:3: unknown variant\n"
        "  expected: one of mkl, openblas\n"
        "  found:    'mlk'\n"
        "  fix:      did you mean 'mkl'?"
    )
    assert unknown("variant", "x", []).expected == "a variant; none exists yet"
