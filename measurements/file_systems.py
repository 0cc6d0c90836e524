"""Measure what environments cost on each file system, and whether an edit reaches another one.

    .venv/bin/python measurements/file_systems.py VARIANT FOLDER [FOLDER ...]

Each folder, on the file system to measure, gets a cache with the variant's packages (from the
user's cache, where `./invoke build --variant VARIANT` has put them), then three environments.
Prints for each the seconds, the growth of the used disk in MB, and whether a byte that is written
into the first environment shows in the second and in the cache. Files of other programs on the
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

EDITED = "lib/python3.9/os.py"


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
    parts = packages.parts_of(shared, variant, locked)
    workspace = Workspace(shared.root, folder / "cache")
    for part in parts:
        target = workspace.cache / part.built.path.relative_to(shared.cache)
        target.parent.mkdir(parents=True)
        shutil.copy(part.built.path, target)
    environments, costs = [], []
    for number in range(3):
        before, place = used(folder), folder / str(number)
        making = prefix.Making(workspace, variant, locked, parts, place)
        taken = seconds(functools.partial(prefix.make, making))
        costs.append(f"{taken:.2f} s {used(folder) - before:.0f} MB")
        environments.append(place)
    edited = environments[0] / EDITED
    links = edited.stat().st_nlink
    edited.chmod(0o644)
    edited.write_text("changed")
    [cached] = workspace.cache.glob(f"unpacked/*/{EDITED}")
    reached = [
        place
        for place, path in (("the second", environments[1] / EDITED), ("the cache", cached))
        if path.read_text() == "changed"
    ]
    kind = "hard links" if links > 1 else "no hard links"
    print(f"{folder}: {kind}; {'; '.join(costs)}; an edit reaches {reached or 'nothing'}")


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
