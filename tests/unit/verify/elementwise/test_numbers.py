"""References and fixes; wrong numbers are found in real environments."""

from __future__ import annotations

import math

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

numbers = suite_module("elementwise.loops")


def test_a_compilers_option_that_leaves_ieee_s_rules_is_taken_out() -> None:
    where = context(expectation=None)
    flags = {"gcc.cxxflags": "-O3 -ffast-math", "cxx": "g++"}
    where.framework.flag = flags.get
    assert "cxxflags = -O3" in numbers._fix(where, None)
    assert "ffast" not in numbers._fix(where, None)


def test_references_are_right_to_the_last_place() -> None:
    assert float(numbers.reference("tanh", 0.5, 0.0)) == math.tanh(0.5)
    assert float(numbers.reference("pow", 2.0, 10.0)) == 1024.0
