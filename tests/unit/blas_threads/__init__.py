"""Tests of recipes/blas-threads, whose C code they compile with functions of a test around it."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

SOURCE = REPOSITORY / "recipes/blas-threads/src"


def compiled(folder: Path, source: str, *options: str) -> ctypes.CDLL:
    """Return a library of C code that includes the recipe's; without a compiler the test skips."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    (folder / "around.c").write_text(source)
    command = ["gcc", "-std=c99", "-Wall", "-Werror", "-fPIC", "-shared", f"-I{SOURCE}", *options]
    subprocess.run([*command, folder / "around.c", "-o", folder / "around.so"], check=True)
    return ctypes.CDLL(str(folder / "around.so"))
