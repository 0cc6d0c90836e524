"""References, fixes and timings of loops; wrong numbers are found in real environments."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import pytest

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


def arguments(dtype: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(shape=shape, size=shape[0] * shape[1]) for shape in numbers.SHAPES]


@pytest.mark.parametrize(("full", "count"), [(False, 10), (True, 20)])
def test_names_of_the_timings(full: bool, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "compiled", lambda *_: None)
    monkeypatch.setattr(numbers, "_samples", lambda *_: [1.0])
    monkeypatch.setattr(numbers, "_matrices", arguments)
    names = [timing.name for timing in numbers.timings(context(full=full, elementwise={}))]
    assert (names[:2], len(names)) == (["exp float32 400x512", "exp float32 1e7"], count)


@pytest.mark.parametrize(("full", "counts"), [(False, [2, 2]), (True, [15, 15])])
def test_a_quiet_machine_needs_two_samples(
    full: bool, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(numbers, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(numbers, "_matrices", arguments)
    monkeypatch.setattr(numbers, "of_context", lambda *_: lambda values: None)
    timings = numbers.timings(context(full=full))
    assert [len(timing.samples) for timing in timings[:2]] == counts
