"""Shared libraries out of wheels, byte for byte as their makers built them: MKL, NVIDIA's.

They are not patched: MKL's licence allows no modification. The executable's DT_RPATH leads to the
prefix's libraries, and NVIDIA's libraries find one another in their own folder.
"""

from __future__ import annotations

import re
import zipfile

from stacks.channel.stages import WheelLibraries
from stacks.channel.staging.build_context import BuildContext
from stacks.core.errors import UsageError

LIBRARY = re.compile(r"(?:[^/]+\.data/data|nvidia/[^/]+)/lib/([^/]+)")
LICENCE = re.compile(r"(?:.*/licensing/|[^/]+\.dist-info/(?:licenses/)?)([^/]+\.txt)")
# Text files of the wheel format that are no licences.
OTHER = ("entry_points.txt", "top_level.txt")


def stage(context: BuildContext) -> None:
    """Copy the recipe's libraries from its wheels to lib/, and make the recipe's links there.

    Raises UsageError for a library that no wheel has.
    """
    extra = context.recipe.extra
    assert isinstance(extra, WheelLibraries)
    folder = context.root / "lib"
    folder.mkdir()
    context.licences.mkdir(parents=True)
    for wheel in context.files:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if (match := LIBRARY.fullmatch(name)) and match[1] in extra.libraries:
                    (folder / match[1]).write_bytes(archive.read(name))
                    (folder / match[1]).chmod(0o755)
                elif (match := LICENCE.fullmatch(name)) and match[1] not in OTHER:
                    (context.licences / match[1]).write_bytes(archive.read(name))
    missing = [name for name in extra.libraries if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"no library {', '.join(missing)} in the recipe's wheels",
            fix="correct `extra.libraries` in the recipe, or the wheel's version",
        )
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
