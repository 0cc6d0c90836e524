"""Operations whose names or signatures differ between the frameworks."""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

ops_module = suite_module("workloads.ops")


def ops(name: str, *, profile: bool = False, linker: str | None = None, **module: Any) -> Any:
    tensor = SimpleNamespace(
        sigmoid=lambda x: ("tensor", x),
        nnet=SimpleNamespace(sigmoid=lambda x: ("nnet", x), softmax=lambda x: ("nnet", x)),
        special=SimpleNamespace(softmax=lambda x, axis: ("special", x, axis)),
    )
    framework = SimpleNamespace(
        name=name,
        tensor=tensor,
        config=SimpleNamespace(floatX=None),
        module=SimpleNamespace(**module),
        mode=lambda linker: f"mode of {linker}",
    )
    return ops_module.Ops(framework, "float32", profile, linker)


@pytest.mark.parametrize(
    ("name", "sigmoid", "softmax"),
    [("theano", ("nnet", "x"), ("nnet", "x")), ("pytensor", ("tensor", "x"), ("special", "x", -1))],
)
def test_functions_of_each_framework(
    name: str, sigmoid: tuple[str, ...], softmax: tuple[object, ...]
) -> None:
    made = ops(name)
    assert made.framework.config.floatX == "float32"
    assert (made.sigmoid("x"), made.softmax("x")) == (sigmoid, softmax)


@pytest.mark.parametrize("result", ["one", ["one"]])
def test_a_scan_returns_a_list_and_keeps_a_profile(result: object) -> None:
    options: dict[str, Any] = {}

    def scan(step: object, **named: Any) -> Any:
        options.update(named)
        return result, {}

    made = ops("theano", profile=True, linker="vm", scan=scan)
    assert made.scan("step", "walk", n_steps=3) == (["one"], {})
    assert options == {"name": "walk", "n_steps": 3, "profile": True, "mode": "mode of vm"}
    options.clear()
    ops("aesara", scan=SimpleNamespace(scan=scan)).scan("step", "walk")
    assert options == {"name": "walk"}
