"""References, fixes, and slow settings; wrong numbers are found in real environments."""

from __future__ import annotations

import importlib
import math
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

numbers = suite_module("elementwise.numbers")
slow_flags = importlib.import_module("verify.checks.settings")


def test_a_compilers_option_that_leaves_ieee_s_rules_is_taken_out() -> None:
    where = context(expectation=None)
    flags = {"gcc.cxxflags": "-O3 -ffast-math", "cxx": "g++"}
    where.framework.flag = flags.get
    assert "cxxflags = -O3" in numbers._fix(where, None)
    assert "ffast" not in numbers._fix(where, None)


def test_references_are_right_to_the_last_place() -> None:
    assert float(numbers.reference("tanh", 0.5, 0.0)) == math.tanh(0.5)
    assert float(numbers.reference("pow", 2.0, 10.0)) == 1024.0


def slow(flags: dict[str, str], seconds: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a context with these flags whose programs print these texts in turn."""
    where = context(advice=[], folder="/tmp")
    where.framework.flag = flags.get
    outputs = iter(seconds)
    monkeypatch.setattr(
        slow_flags.process, "call", lambda *_: SimpleNamespace(output=next(outputs))
    )
    return where


def test_a_slow_setting_is_a_warning_with_the_measured_ratio(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = slow({"floatX": "float16"}, ["0.165", "0.001"], monkeypatch)
    check = slow_flags.check_cost(where)
    assert check.status == "pass"
    assert where.advice == [
        "floatX=float16: a small function takes 165 times as long as without it"
    ]


def test_without_a_slow_setting_nothing_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONMALLOC", "PYTHONDEVMODE", "PYTHONTRACEMALLOC"):
        monkeypatch.delenv(name, raising=False)
    where = slow({"floatX": "float32"}, [], monkeypatch)
    assert slow_flags.check_cost(where).status == "pass"
    assert where.advice == []


def test_a_variable_of_numba_counts_where_programs_run_numba(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    where = slow({}, ["2", "1"], monkeypatch)
    assert "NUMBA_DISABLE_JIT" not in slow_flags.slow_settings(where)
    where.framework.runs_numba = True
    assert slow_flags.slow_settings(where)["NUMBA_DISABLE_JIT"] == "1"
