"""Steps, tables and progress, in a log and on a terminal."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import pytest

from stacks.core import console
from stacks.core.console import Progress, display_path, duration, print_table, show_error, step
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


def test_an_error_is_printed_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(UsageError("[a]: wrong", fix="do this"))
    assert capsys.readouterr().err == "error: [a]: wrong\n  fix:      do this\n"


def test_a_table_has_no_blanks_at_the_ends_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "state"), ("rate",), [("openblas", "-", ""), ("mkl", "", "7")])
    assert capsys.readouterr().out == "name      state  rate\nopenblas  -\nmkl                 7\n"


def test_a_log_has_a_line_for_each_part_and_those_that_are_printed() -> None:
    log = io.StringIO()
    with Progress(3, file=log) as progress:
        progress.update("round 1 of 2: mkl", 0)
        progress.update("round 1 of 2: blis", 1, 300.0)
        progress.update("round 2 of 2: mkl", 2, 600.0)
        progress.print("stored")
    assert log.getvalue().splitlines() == [
        "round 1 of 2, 0 of 3 turns done ...",
        "round 2 of 2, 2 of 3 turns done, about 10 min left ...",
        "stored",
    ]


def test_a_log_hears_of_long_work_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "BEAT", 0.05)
    reading, writing = os.pipe()
    with os.fdopen(reading) as log, os.fdopen(writing, "w") as file:
        with Progress(2, parts=False, file=file) as progress:
            progress.update("compiling: mkl", 1, 400.0)
            lines = [log.readline(), log.readline()]
        monkeypatch.setattr(sys, "stderr", file)
        with step("channel", "54 packages"):
            assert log.readline() == "  channel (54 packages) ... 0 s\n"
    line = "  compiling: mkl, 1 of 2 turns done, about 7 min left ... 0 s\n"
    assert lines == [line, line]


def test_a_terminal_has_one_line_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    with Progress(2, file=terminal) as progress:
        progress.update("round 1 of 2: mkl", 1, 30.0)
        progress.print("[stored]")
    assert "[stored]\n" in terminal.getvalue()
    assert "1 of 2 turns done, about 30 s left" in terminal.getvalue()
    assert "turns done ...\n" not in terminal.getvalue()


def test_durations() -> None:
    assert (duration(12.3), duration(600)) == ("12 s", "10 min")
