"""What names a graph: files, settings, the registered optimisations; which code is a program's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from unit.accelerator.conftest import Load


@pytest.fixture
def graphs(load: Load) -> Any:
    return load("theano_stacks_graphs")


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


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({1, 2, 3}, {3, 2, 1}, True),
        ([1, 2], [2, 1], False),
        ((1,), [1], False),
        (1, 1.0, False),
        (len, max, False),
        (str.join, str.join, True),
    ],
)
def test_hash_of_values(graphs: Any, one: object, other: object, same: bool) -> None:
    digests = []
    for value in (one, other):
        description = graphs.Description()
        description.value(value)
        digests.append(description.hash.hexdigest())
    assert (digests[0] == digests[1]) is same


def test_a_graph_with_large_constants_has_no_hash(graphs: Any) -> None:
    sizes, half = graphs.Sizes(), SimpleNamespace(nbytes=graphs.MOST // 2)
    sizes.add(SimpleNamespace(data=half))
    sizes.add(SimpleNamespace(data=half))
    with pytest.raises(graphs.UnknownError, match="bytes of constants"):
        sizes.add(SimpleNamespace(data=half))


@pytest.fixture
def keys(load: Load) -> Any:
    return load("theano_stacks_keys")


def test_hash_of_a_module_follows_its_file(
    keys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("theano_stacks_more")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    path = tmp_path / "more.py"
    module.__file__ = str(path) + "c"
    hashes = set()
    for text in ("one", "two"):
        path.write_text(text)
        hashes.add(keys.Files().of("theano_stacks_more"))
    assert len(hashes) == 2


def test_edited_theano_is_another(keys: Any, tmp_path: Path) -> None:
    folder = tmp_path / "theano"
    (folder / "tests").mkdir(parents=True)
    for name in ("__init__.py", "opt.py", "tests/test_opt.py"):
        (folder / name).write_text("one")
    keys.theano.__file__ = str(folder / "__init__.py")
    keys.numpy.__file__ = "numpy/__init__.py"
    keys.theano.__version__, keys.numpy.__version__ = "1.0.5", "1.22.4"

    def digest() -> str:
        text: str = keys.Installed().digest()
        return text

    first = digest()
    (folder / "tests/test_opt.py").write_text("other")
    assert digest() == first
    (folder / "opt.py").write_text("edited")
    edited = digest()
    (tmp_path / "numpy-1.22.4.dist-info").mkdir()
    packaged = digest()
    (tmp_path / "of_no_account-1.0.dist-info").mkdir()
    assert len({first, edited, packaged}) == 3 and digest() == packaged
