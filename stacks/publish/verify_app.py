"""The verification suite as one file, blas-verify.pyz, which any Python runs."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from stacks.core.disk import write_atomically
from stacks.core.errors import UsageError
from stacks.core.reproducible import CREATED
from stacks.core.workspace import Workspace

NAME = "blas-verify.pyz"
# What an archive of Python may begin with; the zip archive is found from its end.
FIRST_LINE = b"#!/usr/bin/env python3\n"
# Not for a person's Python: `profile` and `bench` put it on the path of programs, as a folder.
LEFT_OUT = ("program_hook",)
# What zip calls the system that the files' modes are of.
UNIX = 3


def write(workspace: Workspace, target: Path) -> Path:
    """Write the suite to a file, or into a folder, and return its path.

    The same files of verify/ give the same bytes. Raises UsageError if there is no such folder.
    """
    if target.is_dir():
        target /= NAME
    if not target.parent.is_dir() or target.is_dir():
        raise UsageError(
            f"{target}: cannot be written there",
            expected="a file in a folder that exists",
            fix=f"name another, such as {NAME}",
        )
    buffer = io.BytesIO()
    buffer.write(FIRST_LINE)
    with zipfile.ZipFile(buffer, "a") as archive:
        for name, path in sorted(_files(workspace).items()):
            # Not compressed: zlib's versions differ in their bytes.
            info = zipfile.ZipInfo(name, CREATED.timetuple()[:6])
            info.create_system, info.external_attr = UNIX, 0o644 << 16
            archive.writestr(info, path.read_bytes())
    write_atomically(target, buffer.getvalue())
    target.chmod(0o755)
    return target


def _files(workspace: Workspace) -> dict[str, Path]:
    """Return the modules and C sources of the suite, and the licence, by names in the archive."""
    suite = workspace.suite
    found = {
        path.relative_to(suite).as_posix(): path
        for pattern in ("*.py", "*.c")
        for path in suite.rglob(pattern)
        if path.relative_to(suite).parts[0] not in LEFT_OUT
    }
    return {**found, "LICENSE": workspace.root / "LICENSE"}
