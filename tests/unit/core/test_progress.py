"""Progress in a log and on a terminal."""

from __future__ import annotations

import io
import os

import pytest

from stacks.core import console
from stacks.core.console import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_has_a_line_for_each_part_and_those_that_are_printed() -> None:
    log = io.StringIO()
    with Progress(3, file=log) as progress:
        progress.update("round 1 of 2: mkl", 0)
        progress.update("round 1 of 2: blis", 1, 300.0, is_whole=False)
        progress.update("round 2 of 2: mkl", 2, 600.0)
        progress.print("stored")
    assert log.getvalue().splitlines() == [
        "round 1 of 2, 0 of 3 turns done ...",
        "round 2 of 2, 2 of 3 turns done, about 10 min left ...",
        "stored",
    ]


def test_a_log_hears_of_a_long_turn_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "BEAT", 0.05)
    reading, writing = os.pipe()
    with (
        os.fdopen(reading) as log,
        os.fdopen(writing, "w") as file,
        Progress(2, parts=False, file=file) as progress,
    ):
        progress.update("compiling: mkl", 1, 400.0, is_whole=False)
        lines = [log.readline(), log.readline()]
    line = "  compiling: mkl, 1 of 2 turns done, at least 7 min left ... 0 s\n"
    assert lines == [line, line]


def test_a_terminal_has_a_bar_instead() -> None:
    terminal = Terminal()
    with Progress(2, file=terminal) as progress:
        progress.update("round 1 of 2: mkl", 1, 30.0)
        progress.print("[stored]")
    assert "[stored]" in terminal.getvalue() and "turns done" not in terminal.getvalue()


def test_durations() -> None:
    assert (duration(12.3), duration(600)) == ("12 s", "10 min")
