"""Profiles of a device: each node waits until what it computes is there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

device_timing = suite_module("workloads.devices")


class Array:
    """An array of a device, which is computed when a program waits for it."""

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


def test_each_node_waits_and_keeps_its_attributes() -> None:
    thunk = Thunk()
    one = function([thunk])
    device_timing.at_each_node(one)
    (changed,) = one.fn.thunks
    assert changed() == "done"
    assert thunk.outputs[0][0].computed
    assert thunk.outputs[1][0] == 1.5
    assert hasattr(changed, "cthunk"), "the profile tells C from Py by it"
    with pytest.raises(AttributeError):
        _ = changed.perform


def test_nodes_of_scans_wait() -> None:
    thunk = Thunk()

    class Scan:
        def __init__(self) -> None:
            self.fn = function([thunk])

    scan = Scan()
    device_timing.at_each_node(function([], SimpleNamespace(op=scan)))
    scan.fn.fn.thunks[0]()
    assert thunk.outputs[0][0].computed


def test_a_call_waits_for_its_updates() -> None:
    waited: list[bool] = []
    device_timing.for_results(SimpleNamespace(sync_shared=lambda: waited.append(True)), 1.5)
    device_timing.for_results(SimpleNamespace(), 1.5)
    assert waited == [True]


def test_a_call_of_jax_waits_for_its_output_and_its_updates() -> None:
    waited: list[str] = []

    def array(name: str) -> Any:
        return SimpleNamespace(block_until_ready=lambda: waited.append(name))

    cells = [SimpleNamespace(storage=[value]) for value in (array("update"), 1.5)]
    device_timing.for_results(SimpleNamespace(input_storage=cells), array("output"))
    assert waited == ["output", "update"]
