"""Measure what environments cost on each file system.

    .venv/bin/python measurements/file_systems.py VARIANT FOLDER [FOLDER ...]

Each folder, on the file system to measure, gets a cache with the variant's packages (from the
user's cache, where `./invoke build --variant VARIANT` has put them), then three environments.
Prints for each the seconds and the growth of the used disk in MB. Files of other programs on the
same file system change the result. The folders are removed again.
"""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path

from harness import options, seconds

from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make import build, packages, prefix
from stacks.variants.load import load_variant


def used(folder: Path) -> float:
    """Return the used space of a folder's file system in MB."""
    os.sync()
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize / 1e6


def measure(name: str, folder: Path) -> None:
    """Print the line of one file system."""
    shared = default_workspace()
    variant = load_variant(shared, name)
    locked = build.read_lock(shared, variant)
    to_install = packages.packages_to_install(shared, variant, locked)
    workspace = Workspace(shared.root, folder / "cache")
    for package in to_install:
        target = workspace.cache / package.built.path.relative_to(shared.cache)
        target.parent.mkdir(parents=True)
        shutil.copy(package.built.path, target)
    costs = []
    for number in range(3):
        before, place = used(folder), folder / str(number)
        making = prefix.Making(workspace, variant, locked, to_install, place)
        make = functools.partial(prefix.make, making)
        taken = seconds(make)
        costs.append(f"{taken:.2f} s {used(folder) - before:.0f} MB")
    print(f"{folder}: {'; '.join(costs)}")


def main() -> None:
    """Measure each of the folders."""
    parser = options(__doc__)
    parser.add_argument("variant")
    parser.add_argument("folders", type=Path, nargs="+")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        folder.mkdir()
        try:
            measure(arguments.variant, folder)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
