from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core import jsonfile


def test_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"é": [1, null]}', encoding="utf-8")
    assert jsonfile.read(path) == {"é": [1, None]}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "{", ""])
def test_what_is_no_json_or_nested_too_deeply_is_a_value_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"too deeply nested|Expecting"):
        jsonfile.read(path)


def test_a_file_that_is_too_large_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(ValueError, match="more than 32 MiB"):
        jsonfile.read(path)
