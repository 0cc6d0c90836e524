"""The program that Python runs when it is given the folder `verify`."""

import importlib
import subprocess
import sys

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
    for module in ("verify.cli", *programs.values()):
        source = (REPOSITORY / (module.replace(".", "/") + ".py")).read_text()
        assert "\ndef main(" in source, module


def test_the_first_argument_names_the_program() -> None:
    assert "usage: verify [-h]" in verify("--help").stdout
    assert "--profile-calls" in verify("workload", "--help").stdout


def test_no_bytecode_is_written() -> None:
    before = sorted((REPOSITORY / "verify").rglob("*"))
    verify("--help")
    assert sorted((REPOSITORY / "verify").rglob("*")) == before
