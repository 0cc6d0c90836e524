"""Reading a compile folder from which others remove, with a cache of the test."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from unit.accelerator.conftest import Load


class Cache:
    """Lists the folders in one, as Theano does; `removed` are gone a moment after they are seen."""

    def __init__(self, folder: Path, removed: int, number: int = errno.ENOENT) -> None:
        self.folder, self.removed, self.number = folder, removed, number

    def refresh(self, age: int = 0) -> tuple[int, list[str]]:
        """Return the age, and the names of the folders."""
        if self.removed:
            self.removed -= 1
            raise OSError(self.number, os.strerror(self.number), "tmp1")
        return age, [each.name for each in self.folder.iterdir()]

    def clear_unversioned(self) -> list[str]:
        return self.refresh()[1]


@pytest.fixture
def fixed(load: Load, monkeypatch: pytest.MonkeyPatch) -> Any:
    # A copy: the patch changes the class.
    cache = type("Cache", (Cache,), dict(vars(Cache)))
    load("theano_stacks_refresh", theano_gof_cmodule={"ModuleCache": cache}).fix()
    return cache


def test_a_folder_that_is_gone_is_left_out(fixed: Any, tmp_path: Path) -> None:
    (tmp_path / "tmp2").mkdir()
    assert fixed(tmp_path, removed=3).refresh(age=5) == (5, ["tmp2"])
    assert fixed(tmp_path, removed=3).clear_unversioned() == ["tmp2"]


def test_other_errors_and_a_compile_folder_that_is_gone_end_it(fixed: Any, tmp_path: Path) -> None:
    with pytest.raises(PermissionError):
        fixed(tmp_path, removed=1, number=errno.EACCES).refresh()
    with pytest.raises(FileNotFoundError, match=str(tmp_path / "gone")):
        fixed(tmp_path / "gone", removed=0).refresh()
