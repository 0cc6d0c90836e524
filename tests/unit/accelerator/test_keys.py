"""What names a graph: files, settings, the registered optimisations; which code is a program's."""

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


class Database:
    """A database of optimisations, as Theano has it."""

    def __init__(self, **registered: object) -> None:
        self.__db__ = {name: [each] for name, each in registered.items()}
        self.__position__ = dict.fromkeys(registered, 1)


def test_registered_optimisations_count_with_their_order_and_content(
    keys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = keys.Description.__init__.__globals__
    monkeypatch.setitem(names, "name_of", lambda value: (value.__module__, value.__name__))
    inner = Database(merge=("add", 1))
    database = Database(canonicalise=inner, fuse=("mul", 2))
    monkeypatch.setattr(keys.modes, "optdb", database)
    registered, digests = keys.Registered(), []

    def describe() -> str:
        description = keys.Description()
        registered.describe(description)
        text: str = description.hash.hexdigest()
        return text

    digests.append(describe())
    assert describe() == digests[0]
    database.__position__["fuse"] = 2
    digests.append(describe())
    # As many as before, but others.
    inner.__db__["merge"] = [("add", 2)]
    digests.append(describe())
    inner.__db__["fast_run"] = inner.__db__.pop("merge")
    digests.append(describe())
    assert len(set(digests)) == 4
    inner.__db__["fast_run"] = [lambda node: node]
    for _ in range(2):
        with pytest.raises(keys.UnknownError):
            describe()
    inner.__db__["fast_run"] = [("add", 2)]
    assert describe() == digests[-1]


def test_no_graph_is_kept_where_a_program_has_put_a_function_in_theanos_place(
    keys: Any, patch: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ModuleType("theano.place")
    monkeypatch.setitem(sys.modules, place.__name__, place)
    keys._refuse_patches()
    place.function = patch  # type: ignore[attr-defined]
    with pytest.raises(keys.UnknownError, match=r"place\.function is a program"):
        keys._refuse_patches()
