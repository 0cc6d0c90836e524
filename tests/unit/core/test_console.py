from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest

from stacks.core import console
from stacks.core.console import display_path, print_table, show_error, step
from stacks.core.errors import UsageError


def test_a_path_below_the_working_folder_is_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert display_path(tmp_path / "a/b") == "a/b"
    assert display_path(Path("/a/b")) == "/a/b"


def test_a_step_prints_its_last_text_and_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    with step("lock", "at first") as texts:
        texts.append("3 packages")
    assert re.fullmatch(r"  lock     3 packages +0\.0 s\n", capsys.readouterr().err)


def test_a_terminal_shows_which_step_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with step("install", "here"):
        assert capsys.readouterr().err == "  install ...\r"
    assert re.fullmatch(r"  install  here +0\.0 s\n", capsys.readouterr().err)


def test_a_step_that_fails_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="x"), step("lock", ""):
        raise ValueError("x")
    assert capsys.readouterr().err == ""


def test_without_a_terminal_a_long_step_says_what_it_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "BEAT", 0.001)
    shown, end = "", time.monotonic() + 10
    with step("channel", "54 packages"):
        while not shown and time.monotonic() < end:
            shown = capsys.readouterr().err
    assert re.match(r"  channel \(54 packages\) \.\.\. 0 s\n", shown)


def test_an_error_is_printed_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(UsageError("[a]: wrong", fix="do this"))
    assert capsys.readouterr().err == "error: [a]: wrong\n  fix:      do this\n"


def test_a_table_has_no_blanks_at_the_ends_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "state"), ("rate",), [("openblas", "-", ""), ("mkl", "", "7")])
    assert capsys.readouterr().out == "name      state  rate\nopenblas  -\nmkl                 7\n"
