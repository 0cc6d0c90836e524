from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.tasks.options import file_of, names_of, path_of


def test_the_path_of_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert path_of("") is None
    assert path_of("a.json") == tmp_path / "a.json"
    assert path_of("~/a.json") == Path("/home/me/a.json")


def test_names_between_commas_may_be_paths_with_blanks() -> None:
    assert names_of("mkl, my model/stack.yaml,,") == {"mkl", "my model/stack.yaml"}


def test_the_file_of_an_option_is_no_folder_and_a_link_to_it_stays(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    assert file_of("") is None
    assert file_of(str(tmp_path / "link.json")) == tmp_path / "real.json"
    with pytest.raises(UsageError, match=r"is a folder\n  expected: the name of a file"):
        file_of(str(tmp_path))
