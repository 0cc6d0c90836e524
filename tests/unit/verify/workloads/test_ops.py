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


class Samples(list[list[int]]):
    """A shared array of shape (4, 1), which notes how it is divided."""

    type = SimpleNamespace(shape=(4, 1))

    def reshape(self, shape: tuple[int, ...]) -> list[Any]:
        assert shape == (2, 2, 1)
        return [self[:2], self[2:]]


@pytest.mark.parametrize("static", [False, True])
def test_a_minibatch_has_the_same_rows_with_fixed_shapes(static: bool) -> None:
    made = ops("pytensor")
    made.static = static
    assert made.minibatch([Samples([[0], [1], [2], [3]])], 1, 2) == [[[2], [3]]]


def test_a_shared_variable_has_a_fixed_shape_where_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    array = SimpleNamespace(dtype=SimpleNamespace(kind="i"), shape=(2,))
    monkeypatch.setattr(ops_module.numpy, "asarray", lambda _: array, raising=False)
    made = ops("pytensor", shared=lambda value, **options: options)
    assert made.shared([1, 2]) == {"name": None}
    made.static = True
    assert made.shared([1, 2]) == {"name": None, "shape": (2,)}
