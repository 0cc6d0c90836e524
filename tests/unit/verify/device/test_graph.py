"""Where the nodes of a graph run."""

from types import SimpleNamespace
from typing import Any

from unit.helpers.suite import suite_module

graph = suite_module("core.graph")


class GpuArrayType:
    ndim, dtype = 2, "float32"


class TensorType:
    ndim, dtype = 2, "float32"


def node(name: str, kind: type = TensorType, **attributes: Any) -> SimpleNamespace:
    """Return a node of an op of that class, with one output."""
    op = type(name, (), attributes)()
    return SimpleNamespace(op=op, inputs=[], outputs=[SimpleNamespace(type=kind())])


def test_nodes_are_counted_on_the_device_on_the_host_and_as_transfers() -> None:
    nodes = [
        node("GpuFromHost", GpuArrayType),
        node("GpuFromHost", GpuArrayType),
        node("GpuGemm", GpuArrayType),
        node("HostFromGpu"),
        node("Elemwise", scalar_op=SimpleNamespace(name="tanh")),
        node("Shape_i"),
    ]
    assert graph.places(nodes) == ({"GpuGemm": 1}, {"Elemwise of tanh": 1}, 2, 1)


def test_nodes_inside_of_scans_are_counted() -> None:
    inner = SimpleNamespace(fgraph=SimpleNamespace(toposort=lambda: [node("Dot22"), node("Scan")]))
    scan = node("Scan", fn=SimpleNamespace(maker=inner))
    assert graph.places([scan]).host == {"Scan": 2, "Dot22": 1}


def test_nodes_that_do_not_compute_with_float_arrays_are_not_counted() -> None:
    scalar = type("Scalar", (), {"ndim": 0, "dtype": "float32"})
    integers = type("Integers", (), {"ndim": 1, "dtype": "int64"})
    assert graph.places([node("Sum", scalar), node("ARange", integers)]) == ({}, {}, 0, 0)
