"""References, fixes and timings of loops; wrong numbers are found in real environments."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

numbers = suite_module("elementwise.loops")
MATRICES = [SimpleNamespace(shape=shape, size=math.prod(shape)) for shape in numbers.SHAPES]


def test_a_compilers_option_that_leaves_ieee_s_rules_is_taken_out() -> None:
    where = context(expectation=None)
    flags = {"gcc.cxxflags": "-O3 -ffast-math", "cxx": "g++", "compiledir": "/none"}
    where.framework.flag = flags.get
    assert "cxxflags = -O3" in numbers._fix(where, None)
    assert "ffast" not in numbers._fix(where, None)


def test_a_library_that_is_loaded_first_is_tried_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/odd/ftz.so")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    where = context(expectation={"variant": "v", "framework": "f"})
    where.framework.flag = {"cxx": "g++", "compiledir": "/none"}.get
    assert numbers._fix(where, None).endswith("verify again:\nunset LD_PRELOAD")


@pytest.mark.parametrize(("full", "count", "samples"), [(False, 10, 2), (True, 20, 15)])
def test_a_quiet_machine_needs_two_samples_of_a_timing(
    full: bool, count: int, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(numbers.portable, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(numbers, "matrices", lambda dtype: MATRICES)
    monkeypatch.setattr(numbers, "compiled", lambda *_: lambda values: None)
    timings = numbers.timings(context(full=full, elementwise={}))
    names = [timing.name for timing in timings]
    assert (names[:2], len(names)) == (["exp float32 400x512", "exp float32 1e7"], count)
    assert {len(timing.samples) for timing in timings} == {samples}
