"""The metadata of Python packages in debs: an egg-info, made into a dist-info."""

from __future__ import annotations

import shutil
from pathlib import Path

from stacks.channel.staging.dist_info import normalised, write_record
from stacks.channel.staging.tree import remove
from stacks.core.errors import IntegrityError

# The files of an egg-info folder that a dist-info has under the same name.
SHARED = ("entry_points.txt", "top_level.txt")


def to_dist_info(root: Path, archive: str) -> None:
    """Replace the egg-info below `root`, if there is one, by a dist-info with a RECORD.

    Nothing may change a file afterwards. Raises IntegrityError, which names `archive`, for more
    than one egg-info and for broken metadata.
    """
    found = sorted(root.rglob("*.egg-info"))
    if not found:
        return
    if len(found) > 1:
        raise IntegrityError(
            f"{archive}: the package has more than one egg-info",
            expected="one Python package",
            found=", ".join(path.name for path in found),
            fix="make a package of each: correct `extra.files` in the recipe",
        )
    [egg_info] = found
    metadata = egg_info / "PKG-INFO" if egg_info.is_dir() else egg_info
    dist_info = egg_info.with_suffix(".dist-info")
    dist_info.mkdir()
    if metadata.is_file():
        shutil.copyfile(metadata, dist_info / "METADATA")
    for name in SHARED:
        if (egg_info / name).is_file():
            shutil.copyfile(egg_info / name, dist_info / name)
    remove(egg_info)
    write_record(root, normalised(dist_info, archive))
