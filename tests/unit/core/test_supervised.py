from __future__ import annotations

import sys
from contextlib import suppress

import psutil
import pytest

from stacks.core.process import CommandError
from stacks.core.supervised import run_supervised

PYTHON = sys.executable


def test_a_supervised_program() -> None:
    code = "import sys; print('told', file=sys.stderr); print(sys.stdin.readline()[::-1])"
    lines: list[str] = []
    words = [PYTHON, "-c", code]
    assert run_supervised(words, "abc", lines.append, lambda: True) == "\ncba\n"
    assert lines == ["told"]
    with pytest.raises(CommandError) as caught:
        run_supervised(
            [PYTHON, "-c", "raise SystemExit('because')"], "x", lines.append, lambda: True
        )
    assert caught.value.what.endswith("because") and caught.value.found == "exit status 1"
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        run_supervised(["no-such-program"], "", lines.append, lambda: True)


def test_a_cancelled_program_ends_with_its_children() -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen(['cat'], stdin=subprocess.PIPE);"
        "print(child.pid, file=sys.stderr, flush=True); sys.stdin.read()"
    )
    lines: list[str] = []
    assert run_supervised([PYTHON, "-c", code], "", lines.append, lambda: not lines) is None
    # Who inherits it may not have buried it yet.
    with suppress(psutil.NoSuchProcess):
        assert psutil.Process(int(lines[0])).status() == psutil.STATUS_ZOMBIE
