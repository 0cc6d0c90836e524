"""Operations that get no C code; tests/integration/test_recipes.py runs the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load


class GpuType:
    """The type of an array on a device, which is no TensorType in Theano."""

    def __init__(self, dtype: str, ndim: int = 1) -> None:
        self.dtype, self.ndim = dtype, ndim

    def dtype_specs(self) -> tuple[None, str, str]:
        return None, f"npy_{self.dtype}", ""


class MethodNotDefined(Exception):  # noqa: N818
    """Theano's own: the operation has no C code."""


@pytest.fixture
def ops(load: Load) -> Any:
    names = ("declare", "init", "extract", "cleanup", "sync", "code_cache_version")
    return load(
        "theano_stacks_ops",
        theano={"__version__": "0.8.2"},
        theano_gof_type={"Generic": type("Generic", (), {f"c_{name}": "" for name in names})},
        theano_gof_utils={"MethodNotDefined": MethodNotDefined},
        theano_tensor_type={"TensorType": type("TensorType", (GpuType,), {})},
    )


@pytest.mark.parametrize("name", ["Split", "AdvancedSubtensor", "AdvancedIncSubtensor"])
def test_arrays_on_a_device_and_a_subclass_with_a_perform_of_its_own_have_no_c_code(
    ops: Any, name: str
) -> None:
    operation, array = getattr(ops, name), ops.TensorType
    operation.perform = lambda self, *given: None

    def code(of: type, first: GpuType) -> str:
        made = of()
        vars(made).update(len_splits=1, set_instead_of_inc=False)
        types = (first, array(first.dtype), array("int64"))
        node = SimpleNamespace(inputs=[SimpleNamespace(type=each) for each in types])
        text: str = made.c_code(node, "node", ["x", "y", "z"], ["out"], {"fail": "goto end;"})
        return text

    x = array("float32", 2)
    assert "%" not in code(type("Plain", (operation,), {}), x)
    for of, first in (
        (type("Mine", (operation,), {"perform": lambda self, *given: None}), x),
        (operation, GpuType("float32", 2)),
    ):
        with pytest.raises(MethodNotDefined):
            code(of, first)
