from __future__ import annotations

from pathlib import Path

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
    content = conda_lock.parse(path, path.read_bytes(), "lock again")
    assert content.packages == (PACKAGE,) and PACKAGE.file_name == "six.conda"
    assert (content.channel, content.seal) == ("http://here", "c" * 64)
    assert [content.sealed] == sealed


@pytest.mark.parametrize("text", ["", "[]", "a: [", "version: 1\nmetadata: {}\npackage: []\n"])
def test_other_content_is_refused_with_the_fix(text: str) -> None:
    with pytest.raises(UsageError, match="not a valid lock") as caught:
        conda_lock.parse(Path("x"), text.encode(), "lock again")
    assert caught.value.fix == "lock again"
