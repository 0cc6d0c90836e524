"""Python programs that a test starts, talks to and kills; processes that must end."""

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from stacks.core.disk import REPOSITORY


def started(code: str, *words: str | Path) -> subprocess.Popen[str]:
    """Start Python code in this checkout; its input, output and errors are pipes."""
    pipe, command = subprocess.PIPE, [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY
    )


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
