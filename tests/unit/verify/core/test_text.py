"""Text from bytes and other values; files below folders whose names look like patterns."""

import importlib
from pathlib import Path

import pytest

text = importlib.import_module("verify.core.portable").text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("é", "é"),
        ("é".encode(), "é"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        (2, "2"),
        (None, "None"),
    ],
)
def test_any_value_becomes_text(value: object, expected: str) -> None:
    assert text(value) == expected


matching = importlib.import_module("verify.core.portable")


@pytest.mark.parametrize("name", ["plain", "work [old]", "a*b?", "[", "]["])
def test_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name / "one").mkdir(parents=True)
    for file in ("b.so", "a.so", "c.o"):
        (tmp_path / name / "one" / file).touch()
    found = matching.matching(str(tmp_path / name), "*/*.so")
    assert found == [f"{tmp_path}/{name}/one/{file}" for file in ("a.so", "b.so")]
