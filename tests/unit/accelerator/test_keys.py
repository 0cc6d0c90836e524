"""What names a graph; the folder of compiled modules that environments share."""

import os
import sys
import time
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


KEY, OTHER = "1" * 64, "2" * 64
MODULE = bytes(range(256)) * 40


@pytest.fixture
def modules(load: Load) -> Any:
    return load("theano_stacks_modules")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "modules"


@pytest.fixture
def store(modules: Any, folder: Path) -> Any:
    return opened(modules, folder)


def opened(modules: Any, folder: Path | str) -> Any:
    return modules.store_of({modules.VARIABLE: str(folder)})


def test_keep_then_take(store: Any, folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not store.has(KEY) and store.take(KEY) is None
    assert store.keep(KEY, MODULE)
    assert store.has(KEY) and store.take(KEY) == MODULE
    assert [path.name for path in folder.iterdir()] == [KEY]
    (folder / KEY).rename(folder / OTHER)
    assert store.take(OTHER) is None, "its name is part of it"


@pytest.mark.parametrize("place", [0, 30, 100, 155, 200, len(MODULE) + 150, "cut", "empty", "more"])
def test_changed_file_is_not_used_and_can_be_written_again(
    store: Any, folder: Path, place: int | str, caplog: pytest.LogCaptureFixture
) -> None:
    store.keep(KEY, MODULE)
    content = bytearray((folder / KEY).read_bytes())
    if isinstance(place, int):
        content[place] ^= 1
    else:
        content = {"cut": content[:-1], "empty": bytearray(), "more": content + b"x"}[place]
    (folder / KEY).write_bytes(content)
    assert store.take(KEY) is None
    assert "is damaged" in caplog.text
    assert store.keep(KEY, MODULE) and store.take(KEY) == MODULE


def test_file_that_other_users_can_write_is_not_used(
    modules: Any, store: Any, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.keep(KEY, MODULE)
    assert modules.Store(str(folder), os.geteuid() + 1).take(KEY) is None
    for mode in (0o620, 0o602):
        (folder / KEY).chmod(mode)
        assert store.take(KEY) is None
    assert caplog.text.count("another user's") == 3
    (folder / KEY).rename(folder / "elsewhere")
    (folder / KEY).symlink_to("elsewhere")
    assert store.take(KEY) is None
    (folder / KEY).unlink()
    (folder / KEY).mkdir()
    assert store.take(KEY) is None


@pytest.mark.parametrize(
    ("mode", "patch", "message"),
    [
        (0o770, {}, "other users may write to it"),
        (0o707, {}, "other users may write to it"),
        (0o755, {"geteuid": lambda: os.getuid() + 1}, "belongs to another user"),
        # Root may write everywhere.
        (0o755, {"access": lambda path, mode: not mode & os.W_OK}, "not writable"),
        (0o755, {}, ""),
    ],
)
def test_folder_of_others_or_read_only_is_not_used(
    modules: Any,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    mode: int,
    patch: dict[str, Any],
    message: str,
) -> None:
    folder.mkdir()
    folder.chmod(mode)
    for name, function in patch.items():
        monkeypatch.setattr(os, name, function)
    assert (opened(modules, folder) is None) == bool(message)
    assert message in caplog.text


def test_path_that_is_not_a_folder_is_not_used(
    modules: Any, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder.parent / "real").mkdir()
    folder.symlink_to("real")
    (folder.parent / "file").touch()
    for path in (folder, folder.parent / "file", "relative", folder.parent / "gone/modules"):
        assert opened(modules, path) is None
    assert caplog.text.count("modules are not shared") == 4
    assert not (folder.parent / "gone").exists(), "a cache that was removed is not made again"


def test_trim_removes_the_least_recently_used(modules: Any, store: Any, folder: Path) -> None:
    keys = [str(number) * 64 for number in range(5)]
    now = time.time()
    for number, key in enumerate(keys):
        store.keep(key, MODULE)
        os.utime(folder / key, (now - 100 + number, now - 100 + number))
    assert store.take(keys[0]) == MODULE
    small = modules.Store(str(folder), os.geteuid(), limit=4 * (folder / KEY).stat().st_size)
    assert small.keep("9" * 64, MODULE)
    assert sorted(path.name[0] for path in folder.iterdir()) == ["0", "3", "4", "9"]


def test_trim_removes_old_parts_and_no_file_of_others_or_below_the_limit(
    modules: Any, store: Any, folder: Path
) -> None:
    names = ("thesis.pdf", "x.part", "0" * 63, KEY + "x", "theano-stacks-old.part")
    for name in names:
        (folder / name).write_bytes(MODULE)
        os.utime(folder / name, (0, 0))
    (folder / "theano-stacks-new.part").write_bytes(b"half")
    store.keep(KEY, MODULE)
    size = (folder / KEY).stat().st_size
    for limit, left in ((size, {KEY}), (1, set())):
        modules.Store(str(folder), os.geteuid(), limit=limit).trim()
        found = {path.name for path in folder.iterdir()}
        assert found == {*names[:-1], "theano-stacks-new.part", *left}


def test_full_disk_leaves_no_file(
    store: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(old: str, new: str) -> None:
        raise OSError(28, "No space left on device", old)

    monkeypatch.setattr(os, "rename", full)
    assert not store.keep(KEY, MODULE)
    assert "No space left on device" in caplog.text
    assert list(folder.iterdir()) == []
