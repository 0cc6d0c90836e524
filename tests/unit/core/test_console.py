"""Steps, tables and progress, in a log and on a terminal; the log of a run."""

import io
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.core import console
from stacks.core.console import Progress, print_table, step
from stacks.core.process import call


def test_a_step_prints_its_last_text_and_its_time_and_nothing_where_it_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="x"), step("lock", ""):
        raise ValueError("x")
    with step("lock", "at first") as texts:
        texts.append("3 packages")
    assert re.fullmatch(r"  lock     3 packages +0\.0 s\n", capsys.readouterr().err)
    # A terminal shows which step runs.
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with step("install", "here"):
        assert capsys.readouterr().err == "  install ...\r"
    assert re.fullmatch(r"  install  here +0\.0 s\n", capsys.readouterr().err)


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


@pytest.mark.parametrize("terminal", [False, True])
def test_long_work_is_named_again_and_again(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(console, "BEAT", 0.05)
    reading, writing = os.pipe()
    with os.fdopen(reading) as log, os.fdopen(writing, "w") as file:
        with Progress(2, parts=False, file=file) as progress:
            progress.update("compiling: mkl", 1, 400.0)
            lines = [log.readline(), log.readline()]
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr(file, "isatty", lambda: terminal)
        with step("channel", "54 packages"):
            with step("fetch", "1 file"):
                while not log.readline().startswith("  fetch (1 file) ... "):
                    pass
                # The innermost alone.
                assert all(log.readline().startswith("  fetch (1 file) ... ") for _ in range(3))
            while not log.readline().startswith("  channel (54 packages) ... "):
                pass
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


@pytest.fixture
def log() -> Iterator[None]:
    level, handlers = console.LOGGER.level, console.LOGGER.handlers
    console.start_log(verbose=False)
    yield
    console.LOGGER.level, console.LOGGER.handlers = level, handlers


@pytest.mark.parametrize("verbose", [True, False])
def test_verbose_prints_each_command(
    log: None, capfd: pytest.CaptureFixture[str], verbose: bool
) -> None:
    console.start_log(verbose=verbose)
    call(["echo", "a b"])
    assert capfd.readouterr().err == ("+ echo 'a b'\n" if verbose else "")


def test_a_failure_writes_a_log_without_credentials(
    log: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert console.write_log(tmp_path / "logs", "build", ValueError()) is None, "nothing was logged"
    console.start_log(verbose=True)
    logging.getLogger("stacks.x").info("fetched %s", "https://me:secret@example/a")
    # The name of a file need not be UTF-8.
    name = os.fsdecode(b"caf\xe9")
    error = ValueError(f"https://me:secret@example/b {name}")
    path = console.write_log(tmp_path / "logs", "build", error)
    assert path == tmp_path / "logs" / "build-1.log"
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+"
    lines = rf"{time} fetched https://example/a\nerror: https://example/b caf\\udce9\n"
    assert re.fullmatch(lines, path.read_text())
    assert capsys.readouterr().err == "fetched https://example/a\n"
    assert console.write_log(path, "build", error) is None, "the disk refuses"


def test_the_last_ten_logs_are_kept(log: None, tmp_path: Path) -> None:
    call(["true"])
    for number in range(12):
        console.write_log(tmp_path, "build" if number % 2 else "serve", ValueError())
    assert sorted(int(path.stem.split("-")[1]) for path in tmp_path.iterdir()) == [*range(3, 13)]


def test_the_records_of_a_block_are_collected() -> None:
    with console.collected_log() as records:
        call(["true"])
    call(["false"], accepted=(1,))
    assert [record.getMessage() for record in records] == ["+ true"]
