"""Optional tools, installed when they are first needed: in the running venv, or in their own."""

from __future__ import annotations

import sys
from pathlib import Path

from stacks.core.disk import REPOSITORY, sha256_of, write_atomically
from stacks.core.process import call

CLUSTER_LOCK = REPOSITORY / "requirements-cluster.lock"
DOCS_LOCK = REPOSITORY / "requirements-docs.lock"
TEST_LOCK = REPOSITORY / "requirements-test.lock"
RELEASE_LOCK = REPOSITORY / "requirements-release.lock"


def prepare_environment(folder: Path, lock: Path) -> Path:
    """Install requirements-NAME.lock into a venv of its own and return that venv's Python."""
    python = folder / "bin/python"
    # One without the stamp may be the rest of a killed process.
    if not _stamp(folder, lock).is_file():
        call([sys.executable, "-m", "venv", "--clear", folder])
    prepare_tools(folder, lock, python)
    return python


def prepare_tools(venv: Path, lock: Path, python: str | Path = sys.executable) -> None:
    """Install requirements-NAME.lock into a venv, once for each version of the file.

    python: that of the venv; by default the running one.
    """
    stamp = _stamp(venv, lock)
    digest = sha256_of(lock)
    if stamp.is_file() and stamp.read_text() == digest:
        return
    print(f"installing {lock.name} into {venv} (once) ...", file=sys.stderr, flush=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    call([*pip, *rules, "-r", lock])
    write_atomically(stamp, digest)


def _stamp(venv: Path, lock: Path) -> Path:
    return venv / lock.stem.replace("requirements", "stamp")
