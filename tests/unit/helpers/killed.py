"""A tool that is killed while a program of the suite runs for it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

from stacks.core.disk import REPOSITORY
from unit.helpers.environments import EXPECTATION, add, environment

# Seconds on a busy machine.
IMPORT_LIMIT = 60


def slow_environment(folder: Path) -> Path:
    """Make an environment with this Python, whose framework takes a minute to import."""
    prefix = environment(folder / "environment")
    add(prefix, "bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n', 0o555)
    assert (prefix / EXPECTATION).is_file()
    for module in ("theano", "pytensor"):
        text = "import time\npipe = open('pipe', 'w')\npipe.write('imported')\npipe.flush()\n"
        text += "time.sleep(60)"
        add(folder, f"modules/{module}/__init__.py", text)
    return prefix


def kill_during_import(folder: Path, code: str, *arguments: str | Path) -> None:
    """Run code of a tool, kill it when the framework is imported, wait for all programs to end.

    folder: of slow_environment; the working folder and the one for temporary files, too.
    """
    os.mkfifo(folder / "pipe")
    path = f"{folder / 'modules'}:{REPOSITORY}:{REPOSITORY / 'tests'}"
    with (
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder)},
            stderr=subprocess.PIPE,
        ) as tool,
        os.fdopen(os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)) as pipe,
    ):
        assert select.select([pipe], [], [], IMPORT_LIMIT)[0], "the framework is never imported"
        assert pipe.read() == "imported"
        tool.kill()
        # All programs that do not capture it have the writing end.
        tool.communicate(timeout=10)
        # The program that imports has the only writing end.
        assert select.select([pipe], [], [], 10)[0], "a program outlives its tool"
