"""What a framework prints of a module that does not compile stays out of the table."""

import importlib
import sys
from typing import Any

import pytest

quiet: Any = importlib.import_module("verify.core.quiet")


def test_what_is_printed_meanwhile_and_what_comes_later(capsys: pytest.CaptureFixture[str]) -> None:
    with quiet.output():
        print("meanwhile")
        kept = sys.stdout
    print("table")
    kept.write("later")
    with quiet.output(loud=True):
        print("debug")
    assert capsys.readouterr().out == "table\ndebug\n"


def test_an_error_meanwhile(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), quiet.output():
        raise ZeroDivisionError
    print("table")
    assert capsys.readouterr().out == "table\n"
