"""Standard output without what the frameworks print."""

import importlib
import sys
from typing import Any

import pytest

quiet: Any = importlib.import_module("verify.core.progress")


def test_output_in_the_block_and_through_its_stream_later_is_discarded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with quiet.quiet():
        print("in the block")
        stream = sys.stdout
    print("table")
    stream.write("later")
    with quiet.quiet(loud=True):
        print("debug")
    assert capsys.readouterr().out == "table\ndebug\n"


def test_an_error_in_the_block_restores_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), quiet.quiet():
        raise ZeroDivisionError
    print("table")
    assert capsys.readouterr().out == "table\n"
