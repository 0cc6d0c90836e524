"""The digests that a lock has of each package, computed from the package's bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from stacks.channel.build import check_bytes
from stacks.channel.locked_package import Digests, LockedPackage
from stacks.channel.package import Built
from stacks.core import jsonfile
from stacks.core.disk import explain_disk_errors
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock
from stacks.locks.texts import SIZES


def digests_of(path: Path) -> Digests:
    """Return the digests and the size of a file, which is read once."""
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with explain_disk_errors(path), path.open("rb") as file:
        while block := file.read(1 << 20):
            sha256.update(block)
            md5.update(block)
            size += len(block)
    return Digests(sha256.hexdigest(), md5.hexdigest(), size)


def known_packages(workspace: Workspace) -> dict[str, LockedPackage]:
    """Return the packages of the committed locks by file name.

    Locks of other channels are not read, and those that cannot be read are left out.
    """
    known: dict[str, LockedPackage] = {}
    for path in sorted(workspace.locks.glob(f"*/*/{conda_lock.NAME}")):
        if "@" not in path.parent.name:
            known |= packages_in(path.parent)
    return known


def packages_in(folder: Path) -> dict[str, LockedPackage]:
    """Return the packages of the lock in a folder by file name; none if it cannot be read."""
    try:
        sizes = jsonfile.read(folder / SIZES)
        content = conda_lock.read(folder / conda_lock.NAME, sizes, "")
    except (StacksError, OSError, ValueError, TypeError):
        return {}
    return {package.file_name: package for package in content.packages}


def check_unchanged(known: Mapping[str, LockedPackage], built: Mapping[str, Built]) -> None:
    """Raise IntegrityError if a package was built with other bytes than a lock has under its name.

    known: the packages of locks by file name.
    """
    check_bytes((known[name] for name in built if name in known), built)
