"""Which code is Theano's own, and which a program's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unit.accelerator.conftest import Load


@pytest.fixture
def graphs(load: Load) -> Any:
    numpy = {name: type(name, (), {}) for name in ("ndarray", "generic", "dtype", "ufunc")}
    return load("theano_stacks_graphs", numpy=numpy)


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
        ("typed_into_a_notebook", True),
        (None, True),
    ],
)
def test_modules_of_programs(graphs: Any, module: str | None, expected: bool) -> None:
    import json.decoder  # noqa: F401

    assert graphs.is_of_program(module) is expected


class Model:
    """An object of a program."""

    def loglike(self, x: float) -> float:
        return x


def test_programs_are_recognised_by_their_files(
    graphs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Under `python -m cProfile train.py` the file of __main__ is cProfile's.
    import cProfile

    monkeypatch.setattr(sys.modules["__main__"], "__file__", cProfile.__file__, raising=False)
    assert graphs.is_of_program("__main__")
    library = tmp_path / "my-packages/lib/python3.9"
    monkeypatch.setitem(graphs.is_of_program.__globals__, "LIBRARY", str(library))
    for folder, expected in (("", False), ("site-packages", True)):
        module = ModuleType("some_module")
        module.__file__ = str(library / folder / "some_module.py")
        monkeypatch.setitem(sys.modules, "some_module", module)
        assert graphs.is_of_program("some_module") is expected


@pytest.mark.parametrize(
    "value",
    [
        Model(),
        Model,
        Model().loglike,
        lambda x: x,
        [Model()],
        {"model": Model()},
        # Their content is not in their __dict__.
        functools.partial(max, 1),
        [1.0].count,
        "text".join,
    ],
)
def test_what_may_be_another_in_the_next_start_has_no_hash(graphs: Any, value: object) -> None:
    with pytest.raises(graphs.UnknownError):
        graphs.Description().value(value)


@pytest.mark.parametrize("value", [len, str.join, dict, [1, "a"], {"a": (1.0, None)}])
def test_what_is_python_s_own_has_one(graphs: Any, value: object) -> None:
    one, other = graphs.Description(), graphs.Description()
    one.value(value)
    other.value(value)
    assert one.hash.hexdigest() == other.hash.hexdigest()


def test_a_function_belongs_to_the_module_it_was_written_in(
    graphs: Any, patch: Callable[[], None]
) -> None:
    """`functools.wraps` gives a program's function the name of Theano's."""
    patch.__module__ = "theano.tensor"
    with pytest.raises(graphs.UnknownError, match="is a program's"):
        graphs.Description().value(patch)
    names: dict[str, Any] = {}
    exec(compile("def wrapper(): pass", "<__array_function__ internals>", "exec"), names)
    wrapper = names["wrapper"]
    wrapper.__module__ = "numpy.linalg"
    graphs.Description().value(wrapper)
