"""Scan's forced_replace, on a graph of plain objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from unit.accelerator.conftest import Load


@dataclass(eq=False)
class Variable:
    """A variable of a graph, as far as the module looks at it."""

    owner: Node | None = None


@dataclass(eq=False)
class Node:
    """One operation with one output."""

    inputs: list[Variable]
    outputs: list[Variable] = field(default_factory=list)

    def clone_with_new_inputs(self, inputs: list[Variable]) -> Node:
        return apply(*inputs).owner or self


def apply(*inputs: Variable) -> Variable:
    node = Node(list(inputs))
    node.outputs = [Variable(node)]
    return node.outputs[0]


@pytest.fixture
def scan(load: Load) -> Any:
    utils = {"equal_computations": lambda left, right: left == right}
    options = {"PushOutScanOutput": type("PushOutScanOutput", (), {"push_out_inner_vars": None})}
    return load(
        "theano_stacks_scan",
        theano_scan_module_scan_utils=utils,
        theano_scan_module_scan_opt=options,
    )


def test_replace_copies_only_what_depends_on_the_variable(scan: Any) -> None:
    x, y, other = Variable(), Variable(), Variable()
    stays, inner = apply(other), apply(x)
    copy = scan._Replacing().replace(apply(inner, stays), x, y)
    assert copy.owner.inputs[0].owner.inputs == [y] and copy.owner.inputs[1] is stays
    assert scan._Replacing().replace(stays, x, y) is stays
    assert scan._Replacing().replace(None, x, y) is None


def test_outputs_of_one_gradient_share_a_copy_which_the_next_one_forgets(scan: Any) -> None:
    x, y, z = Variable(), Variable(), Variable()
    shared = apply(x)
    replace = scan.scan_op.forced_replace
    one, other = replace(apply(shared), x, y), replace(apply(shared), x, y)
    assert one.owner.inputs[0] is other.owner.inputs[0] is not shared
    replace(apply(shared), x, z)
    assert replace(apply(shared), x, y).owner.inputs[0] is not one.owner.inputs[0]


def test_pushed_out_outputs_are_those_of_the_new_scan(scan: Any) -> None:
    class Arguments:
        outer_out_nit_sot = ("old 0", "old 1")

    def original(*_: object) -> tuple[list[str], str, Arguments]:
        arguments.outer_out_nit_sot = ("new 0", "new 1")
        return ["old 1", "other"], "new node", arguments

    arguments = Arguments()
    fixed = scan._push_out_inner_vars(original)
    assert scan.scan_opt.PushOutScanOutput.push_out_inner_vars
    assert fixed(None, None, None, "old node", arguments)[0] == ["new 1", "other"]
