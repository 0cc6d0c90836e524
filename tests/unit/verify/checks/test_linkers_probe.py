"""The memory that the probe reports; tests/integration/test_verify_environments.py runs it."""

import subprocess
import sys

from stacks.core.disk import REPOSITORY

CODE = "from verify.checks.linkers_probe import own_peak; print(own_peak())"


def test_the_memory_of_what_started_the_probe_does_not_count() -> None:
    """This process has more: it survives in getrusage's figure."""
    ballast = bytearray(300_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    output = subprocess.check_output([sys.executable, "-c", CODE], cwd=REPOSITORY, text=True)
    assert 4e6 < int(output) < 150e6
