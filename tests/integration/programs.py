"""An environment's Python and a checkout's `./invoke` as tests run them, and this processor."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY

# The variable by which each library takes a number of threads.
THREADS = {"blis": "BLIS_NUM_THREADS", "mkl": "MKL_NUM_THREADS", "openblas": "OPENBLAS_NUM_THREADS"}


def invoke(checkout: Path = REPOSITORY) -> list[str]:
    """Return the words that do what a checkout's script ./invoke does when .venv is there."""
    return [sys.executable, "-I", "-m", "invoke", "--search-root", str(checkout)]


def called(words: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, whatever its exit status; options: of subprocess.run."""
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def opened(words: Sequence[str | Path], **options: Any) -> subprocess.Popen[str]:
    """Start a program whose output and errors are read; options: of subprocess.Popen."""
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, **options)


def run(
    place: Path, *words: str | Path, cwd: str | Path = ".", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run an environment's Python, with variables beside those of this process."""
    env = {**os.environ, **variables}
    return called([place / "bin/python", *words], cwd=cwd, env=env, timeout=600)


def printed(place: Path, *words: str | Path, cwd: str | Path = ".", **variables: str) -> str:
    """Return what a program prints that must succeed."""
    done = run(place, *words, cwd=cwd, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def result(place: Path, *words: str | Path, **variables: str) -> Any:
    """Return the value of the last line that a program prints, which is JSON."""
    return json.loads(printed(place, *words, **variables).splitlines()[-1])


CPUINFO = Path("/proc/cpuinfo").read_text()
HAS_AVX512 = all(f" avx512{part}" in CPUINFO for part in ("f", "bw", "cd", "dq", "vl"))
avx512 = pytest.mark.skipif(not HAS_AVX512, reason="needs a processor with AVX-512")
