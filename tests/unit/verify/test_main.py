"""The program that Python runs when it is given the folder `verify`."""

import ast
import importlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY


def verify(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "verify", *argv], capture_output=True, text=True, check=False
    )


def test_every_program_has_a_module_with_a_main_function(monkeypatch: pytest.MonkeyPatch) -> None:
    # The module turns bytecode off for the whole process.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    programs = importlib.import_module("verify.__main__").PROGRAMS
    for program in ("verify.cli", *programs.values()):
        module, _, function = program.partition(":")
        source = (REPOSITORY / (module.replace(".", "/") + ".py")).read_text()
        assert f"\ndef {function or 'main'}(" in source, module


def test_no_bytes_are_formatted_which_python_3_4_cannot() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path in (REPOSITORY / "verify").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, bytes)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("name", "text", "fix"),
    [
        # Before the suite's process is made, and in it.
        ("verify/cli.py", "import verify.nothing", "take a whole copy"),
        ("verify/suite.py", "import verify.nothing", "take a whole copy"),
        ("verify/core/machine.py", "def", "take a whole copy"),
        ("path/argparse.py", "import nothing", "take its folder off PYTHONPATH"),
    ],
)
def test_a_suite_that_cannot_start_names_the_file(
    name: str, text: str, fix: str, tmp_path: Path
) -> None:
    shutil.copytree(REPOSITORY / "verify", tmp_path / "verify")
    (tmp_path / "path").mkdir()
    with (tmp_path / name).open("a") as file:
        file.write(text)
    numpy = tmp_path / "path/numpy"
    numpy.mkdir()
    (numpy / "__init__.py").write_text("__version__ = '1'")
    done = subprocess.run(
        [sys.executable, tmp_path / "verify"],
        env={"PATH": os.defpath, "PYTHONPATH": str(tmp_path / "path")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "verify cannot start with " in done.stderr
    assert str(tmp_path / name) in done.stderr
    assert done.stderr.endswith(f"{fix}\n")


def test_the_suite_takes_ctrl_c_that_was_ignored_while_python_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    main = importlib.import_module("verify.__main__").main
    progress = importlib.import_module("verify.core.progress")
    monkeypatch.setattr(progress, "says_interrupted", True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for name in ("", "1"):
            monkeypatch.setenv("THEANO_STACKS_INTERRUPT", name)
            with pytest.raises(SystemExit):
                main(["files", "--help"])
            expected = signal.default_int_handler if name else signal.SIG_IGN
            assert signal.getsignal(signal.SIGINT) is expected
            assert "THEANO_STACKS_INTERRUPT" not in os.environ
            # The task that runs the suite says that it was interrupted.
            assert progress.says_interrupted is not bool(name)
    finally:
        signal.signal(signal.SIGINT, before)
