"""The command line of ./invoke in this process."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from stacks.tasks import program


@dataclass(frozen=True)
class Ended:
    """The end of a command line: its exit status, what it printed."""

    status: int
    out: str
    err: str


CommandLine = Callable[..., Ended]


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Give the function that runs the words of a command line, as `./invoke` does."""

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["./invoke", *words])
        status = 0
        try:
            program.new_program().run(program.words_of(words))
        except SystemExit as end:
            status = int(end.code or 0)
        return Ended(status, *capsys.readouterr())

    return run
