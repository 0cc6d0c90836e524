"""Optional tools for the running venv, installed when they are first needed."""

from __future__ import annotations

import sys
from pathlib import Path

from stacks.core.disk import REPOSITORY, sha256_of, write_atomically
from stacks.core.process import call

CLUSTER_LOCK = REPOSITORY / "requirements-cluster.lock"
TEST_LOCK = REPOSITORY / "requirements-test.lock"
RELEASE_LOCK = REPOSITORY / "requirements-release.lock"


def prepare_tools(venv: Path, lock: Path) -> None:
    """Install requirements-NAME.lock into the running venv, once for each version of the file."""
    stamp = venv / lock.stem.replace("requirements", "stamp")
    digest = sha256_of(lock)
    if stamp.is_file() and stamp.read_text() == digest:
        return
    print(f"installing {lock.name} into {venv} (once) ...", file=sys.stderr, flush=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    call([*pip, *rules, "-r", lock])
    write_atomically(stamp, digest)
