"""Scans that were replaced do not come back, and gradients share copies: on plain objects."""

from __future__ import annotations

from typing import Any

import pytest

from unit.accelerator.conftest import Load


class Scan:
    """A scan."""


class Variable:
    """A variable of a graph, as far as the module looks at it."""

    def __init__(self, owner: Node | None = None) -> None:
        self.owner = owner


class Node:
    """One operation."""

    def __init__(self, op: object, inputs: list[Variable], outputs: int = 1) -> None:
        self.op, self.inputs = op, inputs
        self.outputs = [Variable(self) for _ in range(outputs)]

    def clone_with_new_inputs(self, inputs: list[Variable]) -> Node:
        return Node(self.op, inputs, len(self.outputs))


class Graph:
    """A FunctionGraph."""

    def __init__(self, *variables: Variable) -> None:
        self.variables = set(variables)


class ReplaceValidate:
    """Theano's feature, which records what it is asked for."""

    def replace_all_validate(
        self, fgraph: Graph, replacements: list[tuple[Variable, Variable]], reason: str = ""
    ) -> str:
        fgraph.pairs = replacements  # type: ignore[attr-defined]
        return "checkpoint"


@pytest.fixture
def replaced(load: Load) -> Any:
    class FunctionMaker:
        def __init__(self, fgraph: object) -> None:
            self.fgraph = fgraph

    return load(
        "theano_stacks_replaced",
        theano_compile_function_module={"FunctionMaker": FunctionMaker},
        theano_gof_toolbox={"ReplaceValidate": type("Feature", (ReplaceValidate,), {})},
        theano_scan_module_scan_op={"Scan": Scan},
    )


def scans() -> tuple[Variable, Variable, Variable]:
    """Return an input, the output of a scan, and that of the scan which replaces it."""
    x = Variable()
    return x, Node(Scan(), [x]).outputs[0], Node(Scan(), [x]).outputs[0]


def test_other_replacements_stay_as_they_are_and_no_graph_becomes_a_cycle(replaced: Any) -> None:
    x, old, new = scans()
    # Without a successor in the graph, an old scan is left to Theano.
    for of, known in ((x, {old: new}), (old, {}), (old, {old: new})):
        pairs = [(Variable(), Node("size", [of]).outputs[0])]
        assert replaced.with_current(Graph(x), known, pairs) is pairs
    middle = Node("middle", [x]).outputs[0]
    new = Node(Scan(), [middle]).outputs[0]
    pairs = [(middle, Node("size", [old]).outputs[0])]
    assert replaced.with_current(Graph(x, middle, new), {old: new}, pairs) is pairs


def test_function_keeps_no_old_scan(replaced: Any) -> None:
    x, old, new = scans()
    feature = replaced.ReplaceValidate()
    feature.replace_all_validate(Graph(x, old), [(old, new)])
    assert feature.scan_successors == {old: new}
    fgraph = Graph()
    fgraph._features = [feature]  # type: ignore[attr-defined]
    replaced.FunctionMaker(fgraph)
    assert not hasattr(feature, "scan_successors")


@pytest.fixture
def scan(load: Load) -> Any:
    utils = {"equal_computations": lambda left, right: left == right}
    options = {"PushOutScanOutput": type("PushOutScanOutput", (), {"push_out_inner_vars": None})}
    return load(
        "theano_stacks_scan",
        theano_scan_module_scan_utils=utils,
        theano_scan_module_scan_opt=options,
    )
