"""Which operations get C code, on stand-ins for Theano; the integration test runs it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load

SUB = {"fail": "goto end;"}


class TensorType:
    """The type of an array."""

    def __init__(self, dtype: str, ndim: int = 1) -> None:
        self.dtype, self.ndim = dtype, ndim

    def dtype_specs(self) -> tuple[None, str, str]:
        return None, f"npy_{self.dtype}", ""


class GpuType(TensorType):
    """The type of an array on a device, which is no TensorType in Theano."""


class SliceType:
    """The type of a slice."""


class MethodNotDefined(Exception):  # noqa: N818
    """Theano's own: the operation has no C code."""


@pytest.fixture(params=["0.8.2", "1.0.5"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ops(load: Load, version: str) -> Any:
    generic = {
        f"c_{name}": f"code of {name}"
        for name in ("declare", "init", "extract", "cleanup", "sync", "code_cache_version")
    }
    array = type("TensorType", (TensorType,), {})
    return load(
        "theano_stacks_ops",
        theano={"__version__": version},
        theano_gof_type={"Generic": type("Generic", (), generic)},
        theano_gof_utils={"MethodNotDefined": MethodNotDefined},
        theano_tensor_type={"TensorType": array},
        theano_tensor_type_other={
            "SliceType": type("SliceType", (SliceType,), {}),
            "NoneTypeT": type("NoneTypeT", (), {}),
        },
    )


def node(*types: object) -> SimpleNamespace:
    return SimpleNamespace(inputs=[SimpleNamespace(type=each) for each in types])


def code(operation: Any, of: SimpleNamespace, own: Any = None, **properties: object) -> str:
    """Return the C code of an operation, or of a class that inherits it, for a node."""
    if not hasattr(operation, "perform"):
        operation.perform = lambda self, *given: None
    made = (own or operation)()
    vars(made).update(properties)
    names = [f"V{number}" for number in range(len(of.inputs))]
    text: str = made.c_code(of, "node", names, ["out"], SUB)
    return text


def test_split_has_its_own_code_from_theano_1_on(ops: Any, version: str) -> None:
    assert hasattr(ops.Split, "c_code") is (version == "0.8.2")
    assert ops.AdvancedSubtensor().c_code_cache_version() == (1,)
    assert ops.SliceType.c_declare == "code of declare"


@pytest.mark.parametrize("version", ["0.8.2"], indirect=True)
def test_split_is_c_code_for_arrays_of_this_machine(ops: Any) -> None:
    array = ops.TensorType
    types = array("int8", 0), array("int64")
    text = code(ops.Split, node(array("float32", 2), *types), len_splits=1)
    assert "*(npy_int8 *)PyArray_DATA(V1)" in text and "{&out}" in text and "%" not in text
    with pytest.raises(MethodNotDefined):
        code(ops.Split, node(GpuType("float32", 2), *types), len_splits=1)


def test_reading_by_arrays_of_integers_is_c_code(ops: Any) -> None:
    array = ops.TensorType
    read = ops.AdvancedSubtensor
    text = code(read, node(array("int8", 3), array("int64"), ops.SliceType()))
    assert "PyTuple_Pack(2, (PyObject *)V1, (PyObject *)V2)" in text and "%" not in text
    for types in (
        (GpuType("float32"), array("int64")),
        (array("float32"), object()),
        (array("float32"), array("int64", 0), ops.SliceType()),
    ):
        with pytest.raises(MethodNotDefined):
            code(read, node(*types))


def test_a_subclass_with_a_perform_of_its_own_has_no_c_code(ops: Any) -> None:
    array = ops.TensorType
    types = array("float32"), array("int64")
    plain = type("Plain", (ops.AdvancedSubtensor,), {})
    assert code(ops.AdvancedSubtensor, node(*types), plain)
    own = {"perform": lambda self, *given: None}
    for operation in (ops.AdvancedSubtensor, ops.AdvancedIncSubtensor, ops.Split):
        if hasattr(operation, "c_code"):
            with pytest.raises(MethodNotDefined):
                code(operation, node(*types, array("int64")), type("Mine", (operation,), own))


def test_adding_is_c_code_where_no_value_is_converted(ops: Any) -> None:
    array, write = ops.TensorType, ops.AdvancedIncSubtensor
    for dtype in ("float32", "float64"):
        types = array(dtype, 2), array(dtype), array("int64")
        assert f"+= *(npy_{dtype} *)" in code(write, node(*types), set_instead_of_inc=False)
    for x, y in (("float64", "float32"), ("int64", "int64"), ("float16", "float16")):
        types = array(x, 2), array(y), array("int64")
        assert "PyObject_SetItem" in code(write, node(*types), set_instead_of_inc=True)
        with pytest.raises(MethodNotDefined):
            code(write, node(*types), set_instead_of_inc=False)


def test_split_with_an_error_runs_theanos_own_code(ops: Any) -> None:
    calls = []

    class Split:
        def __init__(self, count: int) -> None:
            self.count = count

        def perform(self, *arguments: object) -> None:
            calls.append((self.count, *arguments))

    ops.Split = Split
    assert ops.split(2, "x", 0, [1, 2]) is None
    assert calls == [(2, None, ("x", 0, [1, 2]), [[None], [None]])]
