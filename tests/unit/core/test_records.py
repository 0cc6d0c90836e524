from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from stacks.core import records


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "b").mkdir(parents=True)
    for name in ("a", "b/c d", "e"):
        (folder / name).write_text(name)
    return folder


def digests(folder: Path) -> dict[str, str]:
    files = records.files_of(folder)
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def test_a_list_is_read_by_sha256sum_and_back(folder: Path) -> None:
    expected = digests(folder)
    assert list(expected) == ["a", "b/c d", "e"]
    text = records.digests_text(dict(reversed(expected.items())))
    assert records.parse_digests(text) == expected
    words = ["sha256sum", "--check", "--strict", "--quiet"]
    subprocess.run(words, input=text, cwd=folder, text=True, check=True)


def test_each_difference_is_named(folder: Path) -> None:
    expected = digests(folder)
    assert records.differences(expected, records.files_of(folder)) == ""
    (folder / "a").write_text("A")
    (folder / "b/c d").rename(folder / "d")
    (folder / "e").rename(folder.parent / "e")
    (folder / "e").symlink_to(folder.parent / "e")
    assert records.differences(expected, records.files_of(folder)).splitlines() == [
        "  - a: changed",
        "  - b/c d: missing",
        "  - d: not part of it",
        "  - e: changed",
    ]
