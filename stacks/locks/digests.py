"""The digests that a lock has of each package, computed from the package's bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from stacks.channel.package import Digests
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock


def digests_of(path: Path) -> Digests:
    """Return the digests and the size of a file, which is read once."""
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            sha256.update(block)
            md5.update(block)
            size += len(block)
    return Digests(sha256.hexdigest(), md5.hexdigest(), size)


def check_unchanged(workspace: Workspace, digests: Mapping[str, Digests]) -> None:
    """Raise IntegrityError if a present lock has other bytes under the name of a package.

    digests: by file name, which has the hash of all that decides the bytes. Locks of other channels
    are not read, and those that cannot be read are not compared: they are written again.
    """
    for path in sorted(workspace.locks.glob(f"*/*/{conda_lock.NAME}")):
        if "@" in path.parent.name:
            continue
        try:
            packages = conda_lock.read(path, "").packages
        except UsageError:
            continue
        for package in packages:
            built = digests.get(package.file_name)
            if built and built.sha256 != package.sha256:
                raise other_bytes(f"{package.file_name} of {path}", package.sha256, built.sha256)


def other_bytes(package: str, locked: str, found: str) -> IntegrityError:
    """Return the error of a package in the cache whose SHA-256 is not the locked one."""
    return IntegrityError(
        f"{package} has other bytes in the cache than in the lock",
        expected=f"sha256 {locked}",
        found=f"sha256 {found}",
        fix="put the lock back if it was changed by hand (git checkout); else `./invoke clean "
        "--cache` and run it again; if the bytes still differ, please report it: builds must not "
        "depend on the machine",
    )
