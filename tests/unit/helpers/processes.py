"""Python programs that a test starts, talks to and kills; processes that must end."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
from integration.programs import opened

from stacks.core.disk import REPOSITORY
from stacks.core.process import start_in_session


def started(code: str, *words: str | Path) -> subprocess.Popen[str]:
    """Start Python code in this checkout; its input, output and errors are pipes."""
    command = [sys.executable, "-c", code, *words]
    return opened(command, stdin=subprocess.PIPE, cwd=REPOSITORY)


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()


def wait_until_ended(*processes: psutil.Process) -> None:
    """Return when they have ended: a killed process takes a moment."""
    until = time.monotonic() + 60
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            while process.status() != psutil.STATUS_ZOMBIE:
                assert time.monotonic() < until, f"{process} still runs"


def interrupt_at_start(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[Any]:
    """Have ctrl-C come while a module starts a program; give the list of what it has started."""
    programs = []

    def start(*arguments: Any) -> Any:
        programs.append(start_in_session(*arguments))
        os.kill(os.getpid(), signal.SIGINT)
        return programs[0]

    monkeypatch.setattr(module, "start_in_session", start)
    return programs
