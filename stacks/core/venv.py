"""DOC."""

from __future__ import annotations

import sys
from pathlib import Path

from stacks.core.disk import sha256_of, write_atomically
from stacks.core.process import call


def prepare_tools(venv: Path, lock: Path) -> None:
    """Install requirements-NAME.lock into the running venv, once for each content of it."""
    stamp = venv / lock.stem.replace("requirements", "stamp")
    wanted = sha256_of(lock)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"installing {lock.name} into .venv (once) ...", file=sys.stderr, flush=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    call([*pip, *rules, "-r", lock])
    write_atomically(stamp, wanted)
