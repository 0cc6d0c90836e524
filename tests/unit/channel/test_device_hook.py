"""The hook that ends `import theano` where the environment's device cannot be opened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.settings_files import DEVICE_HOOK, HOOKS

# As in Theano: it logs the error, and goes on.
GPUARRAY = """
import logging
pygpu_activated = {opened}
try:
    raise ValueError("no such device")
except Exception:
    logging.getLogger("theano.gpuarray").{level}("Could not initialize", exc_info=True)
"""


def imported(
    folder: Path, device: str = "cuda", opened: bool = False, level: str = "error", **env: str
) -> subprocess.CompletedProcess[str]:
    """Import a Theano with the hook in force; env: `first`: code that runs before the import."""
    package = folder / "theano" / "gpuarray"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text(
        f"class config: device = {device!r}\nimport theano.gpuarray\n"
    )
    (package / "__init__.py").write_text(GPUARRAY.format(opened=opened, level=level))
    (folder / "_theano_stacks_device.py").write_text((HOOKS / f"{DEVICE_HOOK}.py").read_text())
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import _theano_stacks_device\n"
        f"print('logging' in sys.modules); {env.pop('first', 'pass')}\n"
        "import theano; print('imported')"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=env)


def test_a_device_that_was_not_opened_is_an_error(tmp_path: Path) -> None:
    done = imported(tmp_path)
    assert (done.returncode, done.stdout) == (1, "False\n"), "it imports nothing before Theano is"
    last = done.stderr.splitlines()[-3:]
    assert last[0] == (
        "RuntimeError: Theano cannot compute on the device of this environment: no such device"
    )
    assert last[2].endswith("THEANO_FLAGS=device=cpu")
    assert "Could not initialize" not in done.stderr, "the reason is in the error"


def test_a_program_that_logs_nothing_is_ended_too(tmp_path: Path) -> None:
    done = imported(tmp_path, first="import logging; logging.disable(logging.CRITICAL)")
    assert done.returncode == 1
    assert "environment: logging is disabled, so the reason is not known" in done.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"opened": True, "level": "warning"},
        {"device": "cpu", "level": "info"},
        # Of init_gpu_device, and of the second of two contexts.
        {"device": "cpu"},
        {"opened": True},
        # A program that has the device has started this one.
        {"THEANO_GPU_IS_ALREADY_ACTIVE": "Yes"},
    ],
)
def test_other_imports_go_on(tmp_path: Path, changes: dict[str, Any]) -> None:
    done = imported(tmp_path, **changes)
    assert (done.returncode, done.stdout) == (0, "False\nimported\n"), done.stderr
    assert ("Could not initialize" in done.stderr) == (changes.get("level") != "info")
