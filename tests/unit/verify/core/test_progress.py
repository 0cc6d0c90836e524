"""The progress on standard error, and standard output without what the frameworks print."""

import importlib
import io
import logging
import os
import sys

import pytest

progress = importlib.import_module("verify.core.progress")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def write_all() -> None:
    progress.begin()
    progress.note("step")
    progress.log("a remark")
    progress.end()


def test_a_log_has_one_line_of_progress_and_the_remarks(capsys: pytest.CaptureFixture[str]) -> None:
    write_all()
    assert (
        capsys.readouterr().err
        == "verifying: 15 s on an idle machine, 30 s the first time with numba ...\na remark\n"
    )


def test_a_terminal_has_a_line_that_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    write_all()
    clear = progress.CLEAR
    assert terminal.getvalue() == f"{clear}step ...{clear}a remark\n{clear}"


def test_the_supervisor_gets_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    monkeypatch.setattr(progress, "supervisor", writer)
    progress.note("checking é")
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        assert file.read() == "checking é\n".encode()


def test_output_in_the_block_and_through_its_stream_later_is_discarded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress.quiet():
        print("in the block")
        stream = sys.stdout
    print("table")
    stream.write("later")
    with progress.quiet(loud=True):
        print("debug")
    assert capsys.readouterr().out == "table\ndebug\n"


def test_an_error_in_the_block_restores_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), progress.quiet():
        raise ZeroDivisionError
    print("table")
    assert capsys.readouterr().out == "table\n"


def test_warnings_that_a_framework_logs_are_discarded_unless_loud(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("theano.tensor.blas")
    for loud in (False, True):
        with progress.quiet(loud):
            logger.warning("Using NumPy C-API, loud: %s", loud)
    logger.warning("after it")
    assert caplog.messages == ["Using NumPy C-API, loud: True", "after it"]
