"""Shared libraries out of wheels, byte for byte as their makers built them: MKL, NVIDIA's.

They are not patched: MKL's licence allows no modification, the executable's DT_RPATH already leads
to the prefix's libraries, and NVIDIA's find one another in the folder that they lie in.
"""

from __future__ import annotations

import re
import zipfile

from stacks.channel.stages import WheelLibraries
from stacks.channel.staging.build_context import Work
from stacks.core.errors import UsageError

LIBRARY = re.compile(r"(?:[^/]+\.data/data|nvidia/[^/]+)/lib/([^/]+)")
LICENCE = re.compile(r"(?:.*/licensing/|[^/]+\.dist-info/(?:licenses/)?)([^/]+\.txt)")
# Files of the wheel format beside the licence.
OTHER = ("entry_points.txt", "top_level.txt")


def stage(work: Work) -> None:
    """Copy the recipe's libraries from its wheels to lib/, with the links that it names.

    Raises UsageError where no wheel has one of them.
    """
    extra = work.recipe.extra
    assert isinstance(extra, WheelLibraries)
    folder = work.root / "lib"
    licences = work.root / "share/licenses" / work.recipe.package.name
    folder.mkdir()
    licences.mkdir(parents=True)
    for wheel in work.files:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if (found := LIBRARY.fullmatch(name)) and found[1] in extra.libraries:
                    (folder / found[1]).write_bytes(archive.read(name))
                    (folder / found[1]).chmod(0o755)
                elif (found := LICENCE.fullmatch(name)) and found[1] not in OTHER:
                    (licences / found[1]).write_bytes(archive.read(name))
    missing = [name for name in extra.libraries if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"no library {', '.join(missing)} in the recipe's wheels",
            fix="correct `extra.libraries` in the recipe, or the wheel's version",
        )
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
