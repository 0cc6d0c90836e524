"""The hook that ends `import theano` where the environment's device cannot be opened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stacks.channel.start_hook import DEVICE_SOURCE

# As in Theano: it logs the error, and goes on.
GPUARRAY = """
import logging
try:
    raise ValueError("no such device")
except Exception:
    logging.getLogger("theano.gpuarray").{level}("Could not initialize", exc_info=True)
"""


def imported(folder: Path, gpuarray: str) -> subprocess.CompletedProcess[str]:
    """Import a Theano with the hook in force."""
    package = folder / "theano" / "gpuarray"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("import theano.gpuarray\n")
    (package / "__init__.py").write_text(gpuarray)
    (folder / "_theano_stacks_device.py").write_text(DEVICE_SOURCE)
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import _theano_stacks_device\n"
        "print('logging' in sys.modules); import theano; print(len(sys.meta_path))"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_device_that_was_not_opened_is_an_error(tmp_path: Path) -> None:
    done = imported(tmp_path, GPUARRAY.format(level="error"))
    assert (done.returncode, done.stdout) == (1, "False\n"), "it imports nothing before Theano is"
    last = done.stderr.splitlines()[-3:]
    assert last[0] == (
        "RuntimeError: Theano cannot compute on the device of this environment: no such device"
    )
    assert last[2].endswith("THEANO_FLAGS=device=cpu")
    assert "During handling" not in done.stderr


@pytest.mark.parametrize("level", ["warning", "info"])
def test_other_messages_of_theano_pass(tmp_path: Path, level: str) -> None:
    done = imported(tmp_path, GPUARRAY.format(level=level))
    assert (done.returncode, done.stdout) == (0, "False\n3\n"), done.stderr
