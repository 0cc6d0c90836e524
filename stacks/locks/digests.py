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
                raise IntegrityError(
                    f"{package.file_name} in the cache has other bytes than in {path}",
                    expected=f"sha256 {package.sha256}",
                    found=f"sha256 {built.sha256}",
                    fix="`git checkout -- envs/locks` if the lock was changed by hand; else "
                    "`./invoke clean --cache` and lock again; if the bytes still differ, please "
                    "report it: builds must not depend on the machine",
                )
