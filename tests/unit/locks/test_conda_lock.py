from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.locks import conda_lock
from stacks.locks.conda_lock import LockedPackage

PACKAGE = LockedPackage(
    "six", "1.16.0", "py_0", "http://here/noarch/six.conda", "a" * 64, "b" * 32, ("python >=3.9",)
)


def test_a_written_lock_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / conda_lock.NAME
    sealed: list[str] = []

    def seal(text: str) -> str:
        sealed.append(text)
        return "c" * 64

    conda_lock.write(path, [PACKAGE], "http://here", seal)
    content = conda_lock.read(path, "lock again")
    assert content.packages == (PACKAGE,) and PACKAGE.file_name == "six.conda"
    assert (content.channel, content.seal) == ("http://here", "c" * 64)
    assert [content.sealed] == sealed


@pytest.mark.parametrize("text", ["", "[]", "a: [", "version: 1\nmetadata: {}\npackage: []\n"])
def test_other_content_is_refused_with_the_fix(tmp_path: Path, text: str) -> None:
    path = tmp_path / conda_lock.NAME
    path.write_text(text)
    with pytest.raises(UsageError, match="not a valid lock") as caught:
        conda_lock.read(path, "lock again")
    assert caught.value.fix == "lock again"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a" * 64, "../" * 21 + "x"),
        ("b" * 32, "no MD5"),
        ("name: six", "name: ../six"),
        ("noarch/six.conda", "noarch/.."),
        ("noarch/six.conda", "noarch/"),
        ("noarch/six.conda", '"a b.conda"'),
        ("url: http://here\n", 'url: "http://here\\n- pip"\n'),
        ("version: 1.16.0", r'version: "1\n2"'),
        ("dependencies:", "dependencies: &a"),
    ],
)
def test_a_value_that_leaves_its_place_is_refused_by_its_line(
    tmp_path: Path, old: str, new: str
) -> None:
    path = tmp_path / conda_lock.NAME
    conda_lock.write(path, [PACKAGE], "http://here", lambda text: "c" * 64)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=r"not a valid lock\n  found: .*conda-lock.yml:\d+:\d+: "):
        conda_lock.read(path, "lock again")


def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / conda_lock.NAME
    path.write_text("package: " + "[" * 20_000)
    with pytest.raises(UsageError, match=r"conda-lock.yml:1:\d+: expected at most 32 levels"):
        conda_lock.read(path, "lock again")


@pytest.mark.parametrize(
    "change", [{"url": "http://here/noarch/.."}, {"name": "../six"}, {"version": "1\n2"}]
)
def test_what_an_index_cannot_name_is_not_locked(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / conda_lock.NAME
    with pytest.raises(UsageError, match=rf"{conda_lock.NAME}:\d+:\d+: package\[0\]"):
        conda_lock.write(path, [replace(PACKAGE, **change)], "http://here", lambda text: "c" * 64)
