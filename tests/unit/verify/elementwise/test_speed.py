"""Timings of the elementwise functions."""

import itertools
import sys
from types import SimpleNamespace

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

speed = suite_module("elementwise.loops")


@pytest.mark.parametrize(
    ("framework", "module"),
    [
        ("theano", "theano.tensor.nnet"),
        ("aesara", "aesara.tensor.nnet"),
        ("pytensor", "pytensor.tensor.special"),
    ],
)
def test_softmax_of_each_framework(
    framework: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    softmax = SimpleNamespace(softmax=lambda x, axis=None: ("softmax", x, axis))
    monkeypatch.setitem(sys.modules, module, softmax)
    for parent in (framework, f"{framework}.tensor"):
        monkeypatch.setitem(sys.modules, parent, SimpleNamespace())
    where = SimpleNamespace(name=framework, tensor=SimpleNamespace(exp=lambda x: ("exp", x)))
    assert speed.output(where, "exp", "x") == ("exp", "x")
    axis = -1 if framework == "pytensor" else None
    assert speed.output(where, "softmax", "x") == ("softmax", "x", axis)


def arguments(dtype: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(shape=shape, size=shape[0] * shape[1]) for shape in speed.SHAPES]


@pytest.mark.parametrize(("full", "count"), [(False, 10), (True, 20)])
def test_names_of_the_timings(full: bool, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "compiled", lambda *_: None)
    monkeypatch.setattr(speed, "_samples", lambda *_: [1.0])
    monkeypatch.setattr(speed, "_matrices", arguments)
    names = [timing.name for timing in speed.timings(context(full=full, elementwise={}))]
    assert (names[:2], len(names)) == (["exp float32 400x512", "exp float32 1e7"], count)


@pytest.mark.parametrize(("full", "counts"), [(False, [2, 2]), (True, [15, 15])])
def test_a_quiet_machine_needs_two_samples(
    full: bool, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(speed, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(speed, "_matrices", arguments)
    monkeypatch.setattr(speed, "of_context", lambda *_: lambda values: None)
    timings = speed.timings(context(full=full))
    assert [len(timing.samples) for timing in timings[:2]] == counts
