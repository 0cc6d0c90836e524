from __future__ import annotations

from stacks.core.errors import StacksError, nearest, unknown


def test_an_error_has_one_line_for_each_part() -> None:
    assert str(unknown("variant", "MLK", ["openblas", "mkl"], where="a.yaml:3")) == (
        "a.yaml:3: unknown variant\n"
        "  expected: one of mkl, openblas\n"
        "  found:    'MLK'\n"
        "  fix:      did you mean 'mkl'?"
    )
    assert unknown("variant", "x", []).expected == "a variant; none exists yet"
    assert str(StacksError("x: wrong", found=0)) == "x: wrong\n  found:    0"
    assert nearest("blis", ["mkl", "openblas-amdlibm"]) is None
