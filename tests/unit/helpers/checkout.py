"""This checkout, for tests that only read it (parametrized ones, fixtures of a module); git."""

import os
import subprocess
from pathlib import Path

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace

# Nothing can be written below the null device.
CHECKOUT = Workspace(REPOSITORY, Path(os.devnull) / "cache")


def git(folder: Path, *words: str) -> str:
    """Run git in a folder as somebody; return what it prints."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.check_output(command, text=True, stderr=subprocess.PIPE)
