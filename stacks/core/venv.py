"""Optional tools, installed when they are first needed: in the running venv, or in their own."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stacks.core.console import beating
from stacks.core.disk import REPOSITORY, hold_lock, sha256_of, write_atomically
from stacks.core.process import CommandError, call
from verify.core import surroundings

CLUSTER_LOCK = REPOSITORY / "requirements-cluster.lock"
DOCS_LOCK = REPOSITORY / "requirements-docs.lock"
LOCKING_LOCK = REPOSITORY / "requirements-locking.lock"
TEST_LOCK = REPOSITORY / "requirements-test.lock"
RELEASE_LOCK = REPOSITORY / "requirements-release.lock"


def prepare_tools(lock: Path, folder: Path | None = None, options: Sequence[str] = ()) -> Path:
    """Install requirements-NAME.lock into a venv, once for each version; return its Python.

    folder: of a venv that has nothing else, made if need be; by default it is the running one.
    options: of pip. Raises CommandError with what pip lacks.
    """
    python = folder / "bin/python" if folder else Path(sys.executable)
    stamp = (folder or Path(sys.prefix)) / lock.stem.replace("requirements", "stamp")
    if _is_current(stamp, lock):
        return python
    with hold_lock(folder or stamp, f"{stamp.parent.name} with {lock.name}"):
        # One without the stamp may be the rest of a killed process.
        if folder and not stamp.is_file():
            call([sys.executable, "-I", "-m", "venv", "--clear", folder])
        if not _is_current(stamp, lock):
            _install(stamp.parent, lock, [python, "-I", "-m", "pip"], options)
            write_atomically(stamp, sha256_of(lock))
    importlib.invalidate_caches()
    return python


def _is_current(stamp: Path, lock: Path) -> bool:
    return stamp.is_file() and stamp.read_text() == sha256_of(lock)


def _install(venv: Path, lock: Path, pip: Sequence[str | Path], options: Sequence[str]) -> None:
    print(f"installing {lock.name} into {venv} (once) ...", file=sys.stderr, flush=True)
    words = [*pip, "--disable-pip-version-check", "install", "--quiet", "--no-compile"]
    rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    try:
        with beating(lambda: f"installing {lock.name}", sys.stderr):
            call([*words, *rules, *options, "-r", lock], env=surroundings.pip(os.environ))
    except CommandError as error:
        raise CommandError(
            f"pip could not install {lock.name}",
            found="\n            ".join(error.output.splitlines()[-2:]),
            fix="check the network, and pip's own settings (pip config list): index, proxy, CA "
            "bundle; without a network, ./invoke vendor DIR of this version writes what "
            "./invoke, its lock and its docs install",
        ) from error
