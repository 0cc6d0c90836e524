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


graph = suite_module("core.graph")
