"""How the suite's programs end: status, message and fix."""

import argparse
import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from stacks.core.disk import REPOSITORY

program = importlib.import_module("verify.core.program")
expectation = importlib.import_module("verify.core.expectation")
framework = importlib.import_module("verify.core.framework")

ARGUMENTS = SimpleNamespace(debug=False)


def raising(error: BaseException) -> object:
    def run(_arguments: object) -> NoReturn:
        raise error

    return run


def test_the_status_of_a_program_that_ends_by_itself() -> None:
    assert program.exit_status("verify", lambda arguments: 3, ARGUMENTS) == 3


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (framework.FrameworkError("no framework", "get one"), ["no framework", "fix: get one"]),
        (
            expectation.ExpectationError("x is missing"),
            ["x is missing", "fix: build the environment again; the builder writes this file"],
        ),
        (
            FileNotFoundError(2, "No such file", "a.json"),
            [
                "[Errno 2] No such file: 'a.json'",
                "fix: look at the path, its permissions and the space on its disk",
            ],
        ),
    ],
)
def test_a_program_that_cannot_run_has_status_2_and_a_fix(
    error: Exception, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.exit_status("verify", raising(error), ARGUMENTS) == 2
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith(f"verify cannot run with {sys.executable} (Python 3.")
    assert rest == [f"  {line}" for line in lines]


def test_debug_lets_a_file_error_through() -> None:
    with pytest.raises(OSError, match="full"):
        program.exit_status("verify", raising(OSError("full")), SimpleNamespace(debug=True))


def test_an_interrupted_program_has_status_130(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.exit_status("verify", raising(KeyboardInterrupt()), ARGUMENTS) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_numbers_for_argparse() -> None:
    assert (program.positive("1"), program.at_least(0, "0")) == (1, 0)
    with pytest.raises(argparse.ArgumentTypeError, match="at least 1"):
        program.positive("0")


def test_without_a_framework_the_suite_cannot_run_and_leaves_no_files(tmp_path: Path) -> None:
    before = sorted((REPOSITORY / "verify").iterdir())
    done = subprocess.run(
        [sys.executable, REPOSITORY / "verify"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "this Python has no Theano, Aesara, PyTensor or NumPy" in done.stderr
    assert "fix: " in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
    assert sorted((REPOSITORY / "verify").iterdir()) == before


def test_an_interrupt_that_c_code_takes_for_a_failed_import_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(_arguments: object) -> NoReturn:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise framework.FrameworkError("import fails", "install NumPy") from None
        raise AssertionError

    before = signal.getsignal(signal.SIGINT)
    assert program.exit_status("verify", run, ARGUMENTS) == program.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(signal.SIGINT) is before
