"""The question that tells a Python for the suite; test_verify.py has what is none."""

from __future__ import annotations

import subprocess
import sys

from stacks.environments.care import interpreter


def test_every_python_answers_the_probe() -> None:
    done = subprocess.run([sys.executable, "-c", interpreter.PROBE], capture_output=True)
    assert done.stdout == b"42\n"
