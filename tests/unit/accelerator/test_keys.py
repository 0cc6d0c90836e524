"""What names a graph: files, settings, the processor, the registered optimisations, patches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unit.accelerator.conftest import Load


@pytest.fixture
def keys(load: Load) -> Any:
    numpy = {name: type(name, (), {}) for name in ("ndarray", "generic", "dtype", "ufunc")}
    return load("theano_stacks_keys", numpy=numpy)


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


def test_variables_that_choose_kernels_count(keys: Any) -> None:
    environ = {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "2", "HOME": "/root"}
    assert [name for name, _ in keys._numeric(environ)] == ["OMP_NUM_THREADS", "OPENBLAS_CORETYPE"]


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
