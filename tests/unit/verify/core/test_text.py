"""Text from bytes and other values."""

import importlib

import pytest

text = importlib.import_module("verify.core.text").text


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
