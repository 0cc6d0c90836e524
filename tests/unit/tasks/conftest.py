"""The command line of ./invoke in this process."""

import sys
import tempfile
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
def invoke(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> CommandLine:
    """Give the function that runs the words of a command line, as `./invoke` does."""
    # Each command removes what killed programs left in TMPDIR, and says so.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["./invoke", *words])
        status = 0
        try:
            program.new_program().run(program.words_of(words))
        except SystemExit as end:
            status = int(end.code or 0)
        return Ended(status, *capsys.readouterr())

    return run
