"""Profiles of a device: each node waits until what it computes is there."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

# It is written for Python 2.7 too, so it has no types.
waiting: Any = importlib.import_module("verify.workloads.device_timing")


class Array:
    """An array of a device, which is not computed before somebody waits for it."""

    computed = False

    def sync(self) -> None:
        self.computed = True


class Thunk:
    """A node's thunk in C: it returns at once, its result is not computed yet."""

    cthunk = "C"

    def __init__(self) -> None:
        self.outputs: list[list[Any]] = [[None], [None]]

    def __call__(self) -> str:
        self.outputs[0][0], self.outputs[1][0] = Array(), 1.5
        return "done"


def function(thunks: list[Any], *nodes: Any) -> Any:
    """Return what stands for a compiled function."""
    graph = SimpleNamespace(toposort=lambda: list(nodes))
    return SimpleNamespace(
        maker=SimpleNamespace(fgraph=graph), fn=SimpleNamespace(thunks=list(thunks))
    )


def test_each_node_waits_and_is_still_what_it_was() -> None:
    thunk = Thunk()
    one = function([thunk])
    waiting.at_each_node(one)
    (changed,) = one.fn.thunks
    assert changed() == "done"
    assert thunk.outputs[0][0].computed
    assert thunk.outputs[1][0] == 1.5
    assert hasattr(changed, "cthunk"), "the profile tells C from Py by it"
    with pytest.raises(AttributeError):
        _ = changed.perform


def test_the_nodes_of_scans_wait_too() -> None:
    thunk = Thunk()

    class Scan:
        def __init__(self) -> None:
            self.fn = function([thunk])

    scan = Scan()
    waiting.at_each_node(function([], SimpleNamespace(op=scan)))
    scan.fn.fn.thunks[0]()
    assert thunk.outputs[0][0].computed


def test_a_call_waits_for_what_it_has_updated() -> None:
    waited: list[bool] = []
    waiting.for_updates(SimpleNamespace(sync_shared=lambda: waited.append(True)))
    waiting.for_updates(SimpleNamespace())
    assert waited == [True]
