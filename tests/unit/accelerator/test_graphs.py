"""Hashes of values, and graphs that are stored and restored, on a Theano of the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from unit.accelerator.conftest import Load


class Type:
    """A type of variables."""

    def __init__(self, name: str) -> None:
        self.name = name


class Variable:
    """A variable of a graph."""

    def __init__(self, type: Type, name: str | None = None) -> None:
        self.type, self.name = type, name
        self.owner: Apply | None = None


class Constant(Variable):
    """A variable with a value."""

    def __init__(self, type: Type, data: object, name: str | None = None) -> None:
        super().__init__(type, name)
        self.data = data


class Apply:
    """An operation on variables."""

    def __init__(self, op: object, inputs: list[Variable], outputs: list[Variable]) -> None:
        self.op, self.inputs, self.outputs = op, inputs, outputs
        for output in outputs:
            output.owner = self


class Op:
    """An operation."""

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.nodenames = [object()]


def io_toposort(inputs: list[Variable], outputs: list[Variable]) -> Iterator[Apply]:
    done: set[Apply] = set()

    def visit(variable: Variable) -> Iterator[Apply]:
        node = variable.owner
        if node is None or variable in inputs or node in done:
            return
        done.add(node)
        for each in node.inputs:
            yield from visit(each)
        yield node

    for output in outputs:
        yield from visit(output)


@pytest.fixture
def graphs(load: Load, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = load(
        "theano_stacks_graphs",
        theano_gof_graph={
            "Variable": Variable,
            "Constant": Constant,
            "Apply": Apply,
            "io_toposort": io_toposort,
        },
        theano_gof_op={"PureOp": Op},
    )
    # The classes above are Theano's.
    monkeypatch.setattr(module, "is_of_program", lambda name: False)
    monkeypatch.setattr(module, "name_of", lambda value: (value.__module__, value.__name__))
    monkeypatch.setattr(
        module,
        "has_own_state",
        lambda value: isinstance(value, (Op, Type)) or hasattr(value, "nbytes"),
    )
    return module


def digest(graphs: Any, value: object) -> str:
    description = graphs.Description()
    description.value(value)
    text: str = description.hash.hexdigest()
    return text


def graph(data: object = 2.0, factor: float = 3.0) -> tuple[list[Variable], list[Variable]]:
    """Return inputs and outputs of op(op(x, constant), x)."""
    floats = Type("float")
    x, inner, output = Variable(floats, "x"), Variable(floats), Variable(floats, "y")
    op = Op(factor)
    Apply(op, [x, Constant(floats, data)], [inner])
    Apply(op, [inner, x], [output])
    return [x], [output]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({1, 2, 3}, {3, 2, 1}, True),
        ([1, 2], [2, 1], False),
        ((1,), [1], False),
        (1, 1.0, False),
        (len, max, False),
        (Op(1.0), Op(1.0), True),
        (Op(1.0), Op(2.0), False),
    ],
)
def test_hash_of_values(graphs: Any, one: object, other: object, same: bool) -> None:
    assert (digest(graphs, one) == digest(graphs, other)) is same


@pytest.mark.parametrize("value", [object(), pytest, Variable(Type("float"))])
def test_values_that_cannot_be_hashed(graphs: Any, value: object) -> None:
    with pytest.raises(graphs.UnknownError):
        digest(graphs, value)


def test_a_graph_with_large_constants_is_not_stored(graphs: Any) -> None:
    class Data:
        nbytes = graphs.MOST

    class More(Data):
        nbytes = graphs.MOST + 1

    for data, is_stored in ((Data(), True), (More(), False)):
        inputs, outputs = graph(data)
        if is_stored:
            graphs.packed(inputs, outputs)
            graphs.Description().graph(inputs, outputs)
        else:
            for function in (graphs.packed, graphs.Description().graph):
                with pytest.raises(graphs.UnknownError, match="bytes of constants"):
                    function(inputs, outputs)


def test_constant_that_is_read_from_a_file_has_no_hash(
    graphs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The optimiser would compute it once for all starts."""
    floats, output = Type("float"), Variable(Type("float"))
    Apply(Op(3.0), [Constant(floats, 2.0)], [output])
    graphs.Description().graph([], [output])
    monkeypatch.setattr(Op, "__module__", "theano.tensor.io")
    with pytest.raises(graphs.UnknownError, match="a constant that"):
        graphs.Description().graph([], [output])
