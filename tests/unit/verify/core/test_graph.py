"""The signature of a compiled graph, its memory, and where its nodes run."""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module


class Op:
    """An op with that text."""

    def __init__(self, text: str, **attributes: Any) -> None:
        self.text = text
        vars(self).update(attributes)

    def __str__(self) -> str:
        return self.text


class Scan(Op):
    """A scan whose steps are compiled as `fn`."""


def function(*ops: Op) -> SimpleNamespace:
    """Return what stands for a compiled function of these ops."""
    nodes = [SimpleNamespace(op=op) for op in ops]
    fgraph = SimpleNamespace(toposort=lambda: nodes, apply_nodes=nodes)
    return SimpleNamespace(maker=SimpleNamespace(fgraph=fgraph))


def signature(*ops: Op) -> str:
    return str(graph.describe(function(*ops))["signature"])


def test_the_order_and_addresses_do_not_count() -> None:
    first = signature(Op("Dot22"), Op("<Sum at 0x7f00aa>"))
    assert first == signature(Op("<Sum at 0x7f11bb>"), Op("Dot22"))
    assert first != signature(Op("Dot22"), Op("Dot22"), Op("<Sum at 0x7f00aa>"))


def test_the_insides_of_scans_count() -> None:
    def walk(*ops: Op) -> Scan:
        return Scan("walk}", fn=function(*ops))

    content = graph.describe(function(walk(Op("Dot22")), Op("Sum")))
    (scan,) = content["scans"]
    assert (content["nodes"], scan["name"], scan["nodes"]) == (2, "walk}", 1)
    assert scan["signature"] == signature(Op("Dot22"))
    assert content["signature"] != signature(walk(Op("Gemm")), Op("Sum"))
    assert len(graph.functions_in(function(walk(walk(walk()))))) == 4


def test_a_scan_that_pytensor_has_not_compiled_has_no_inner_function() -> None:
    assert graph.inner_function(SimpleNamespace(op=Scan("walk}", _fn=None))) is None
    assert graph.inner_function(SimpleNamespace(op=Op("Dot22", fn=function()))) is None


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (Op("Elemwise{tanh}"), "Elemwise{tanh}"),
        (
            Op("Composite{...}", scalar_op=SimpleNamespace(fgraph=function(Op("x")).maker.fgraph)),
            "Composite{1 Op}",
        ),
    ],
)
def test_names_of_fused_ops_have_their_parts(op: Op, name: str) -> None:
    assert graph.op_name(op) == name


MEGABYTE = 1 << 20


def test_the_peak_of_a_call_is_what_it_takes_for_a_while() -> None:
    def call() -> None:
        bytearray(b"1" * (64 * MEGABYTE))

    assert 60 * MEGABYTE < graph.peak_of_call(call) < 200 * MEGABYTE
    assert graph.peak_of_call(lambda: None) < 8 * MEGABYTE


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
    scan = node("Scan")
    scan.op.fn = SimpleNamespace(maker=inner)
    assert graph.places([scan]).host == {"Scan": 2, "Dot22": 1}
