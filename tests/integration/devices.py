"""Driving the suite's part for devices in an environment."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from stacks.core.disk import REPOSITORY

SUITE = REPOSITORY / "verify"
DRIVER = REPOSITORY / "tests/integration/device_driver.py"
EXPECTATION = "etc/theano-stacks/expect.json"
FRAMEWORK = "theano-1.0.5"


def drive(place: Path, *words: str, **variables: str) -> str:
    """Return the last line that the driver prints in an environment."""
    program: list[str | Path] = [place / "bin/python", DRIVER, SUITE, place / EXPECTATION, *words]
    done = subprocess.run(
        program,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def look(place: Path, *words: str, **variables: str) -> tuple[str, str]:
    """Return the status and the detail of the check that the device is there."""
    [[name, status, detail]] = json.loads(drive(place, "check", *words, **variables))
    assert name == "device"
    return status, detail


def compile_library(place: Path, path: Path, text: str) -> None:
    """Compile C code to a shared library with the environment's own compiler."""
    source = path.with_suffix(".c")
    source.write_text(text)
    subprocess.check_call([place / "bin/gcc", "-shared", "-fPIC", source, "-o", path])
