"""The folder of compiled modules that environments share: damaged or unsafe files are not used."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from unit.accelerator.conftest import Load

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
