from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stacks.cluster import fingerprint
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace

HERE = {"stacks/a.py": "1", "envs/b": "2"}


def test_the_same_checkout_is_taken(workspace: Workspace, tmp_path: Path) -> None:
    fingerprint.check(HERE, "c" * 40, dict(HERE), None)
    (tmp_path / "stacks/__pycache__").mkdir(parents=True)
    (tmp_path / "stacks/__pycache__/a.pyc").touch()
    (tmp_path / "stacks/.ruff_cache").mkdir()
    (tmp_path / "stacks/.ruff_cache/CACHEDIR.TAG").touch()
    (tmp_path / "stacks/a.py").write_text("a")
    (tmp_path / "requirements.lock").write_text("b")
    (tmp_path / "README.md").write_text("nothing follows from it")
    assert sorted(fingerprint.digests(replace(workspace, root=tmp_path))) == [
        "requirements.lock",
        "stacks/a.py",
    ]


def test_another_commit_is_refused_with_the_command_that_fixes_it() -> None:
    with pytest.raises(StaleError) as caught:
        fingerprint.check(HERE, "c" * 40, {**HERE, "envs/b": "3", "envs/c": "4"}, "d" * 40)
    assert caught.value.expected == f"commit {'c' * 40} without changes"
    assert caught.value.found == f"commit {'d' * 40} with 2 different files: envs/b, envs/c"
    assert caught.value.fix == f"on that machine: git checkout {'c' * 40}"


def test_a_changed_file_of_the_same_commit_is_refused() -> None:
    with pytest.raises(StaleError, match="the same commit with 1 different file: envs/b"):
        fingerprint.check(HERE, "c" * 40, {**HERE, "envs/b": "3"}, "c" * 40)
