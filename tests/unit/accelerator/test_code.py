"""Hashes of a program's functions and classes: different wherever they may compute another."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unit.accelerator.conftest import Load

PROGRAM = """
import os
FACTOR = 2

def scale(x):
    return helper(x) * FACTOR

def helper(x):
    return x + OFFSET

OFFSET = 1

def made(number):
    def inner(x):
        return x * number
    return inner

def recursive(n):
    return recursive(n - 1)

class Base:
    rate = 1.0

class Op(Base):
    limit = 5
    def perform(self, x):
        return os.path, scale(x)
    @staticmethod
    def name(): return "one"
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType("program_of_a_user")
    module.__file__ = str(tmp_path / "program.py")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(PROGRAM, vars(module))
    return module


@pytest.fixture
def graphs(load: Load) -> Any:
    numpy = {name: type(name, (), {}) for name in ("ndarray", "generic", "dtype", "ufunc")}
    return load("theano_stacks_graphs", numpy=numpy)


def digest(graphs: Any, value: object) -> str:
    description = graphs.Description()
    description.value(value)
    assert description.of_program
    text: str = description.hash.hexdigest()
    return text


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("theano.tensor", False),
        ("theano_stacks_scan", False),
        ("numpy.core", False),
        ("pygpu.elemwise", False),
        ("builtins", False),
        ("json.decoder", False),
        ("pytest", True),
        ("__main__", True),
        (__name__, True),
    ],
)
def test_modules_of_programs(graphs: Any, module: str, expected: bool) -> None:
    import json.decoder  # noqa: F401

    assert graphs.code.is_of_program(module) is expected


@pytest.mark.parametrize("name", ["scale", "Op"])
@pytest.mark.parametrize("changed", ["FACTOR", "OFFSET"])
def test_values_that_code_names_count(graphs: Any, program: Any, name: str, changed: str) -> None:
    before = digest(graphs, getattr(program, name))
    assert digest(graphs, getattr(program, name)) == before
    setattr(program, changed, 7)
    assert digest(graphs, getattr(program, name)) != before


def test_values_that_a_function_was_made_with_count(graphs: Any, program: Any) -> None:
    one, same, other = (digest(graphs, program.made(number)) for number in (2, 2, 3))
    assert one == same != other


@pytest.mark.parametrize(("name", "value"), [("limit", 6), ("name", staticmethod(lambda: "two"))])
def test_attributes_of_a_class_count(graphs: Any, program: Any, name: str, value: object) -> None:
    before = digest(graphs, program.Op)
    setattr(program.Op, name, value)
    assert digest(graphs, program.Op) != before


def test_attributes_of_a_base_count(graphs: Any, program: Any) -> None:
    before = digest(graphs, program.Op)
    program.Base.rate = 2.0
    assert digest(graphs, program.Op) != before


def test_attribute_of_an_op_counts_whatever_its_name(
    graphs: Any, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`fn` is compiled in Theano's own ops, and what decides in another's."""
    monkeypatch.setattr(graphs.op, "PureOp", program.Base)
    op = program.Op()
    op.fn = 1
    before = digest(graphs, op)
    op.fn = 2
    assert digest(graphs, op) != before


def test_function_that_calls_itself_has_a_hash(graphs: Any, program: Any) -> None:
    assert digest(graphs, program.recursive) == digest(graphs, program.recursive)


def test_code_that_names_what_has_no_content_has_no_hash(graphs: Any, program: Any) -> None:
    program.FACTOR = object()
    with pytest.raises(graphs.UnknownError, match="object"):
        digest(graphs, program.scale)
