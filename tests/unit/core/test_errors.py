from __future__ import annotations

from stacks.core.errors import StacksError, UsageError


def test_an_error_has_one_line_for_each_part() -> None:
    error = UsageError("x: wrong", expected=1, found=2, fix="do this")
    assert str(error) == "x: wrong\n  expected: 1\n  found:    2\n  fix:      do this"
    assert str(StacksError("x: wrong", found=0)) == "x: wrong\n  found:    0"


def test_exit_codes() -> None:
    assert (StacksError("x").exit_code, UsageError("x").exit_code) == (1, 2)
