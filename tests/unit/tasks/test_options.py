from __future__ import annotations

from pathlib import Path

import pytest

from stacks.tasks.options import path_of


def test_the_path_of_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert path_of("") is None
    assert path_of("a.json") == tmp_path / "a.json"
    assert path_of("~/a.json") == Path("/home/me/a.json")
