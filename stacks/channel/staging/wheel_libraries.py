"""Shared libraries out of wheels, byte for byte as their makers built them: MKL, NVIDIA's.

They are not patched: MKL's licence allows no modification. The executable's DT_RPATH leads to the
prefix's libraries, and NVIDIA's libraries find one another in their own folder.
"""

from __future__ import annotations

import re

from stacks.channel.stages import WheelLibraries
from stacks.channel.staging.build_context import BuildContext
from stacks.core.errors import UsageError
from stacks.sources.unpack import unpack_zip

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
    licences = context.licences.relative_to(context.root)

    def place(member: str) -> str | None:
        if (match := LIBRARY.fullmatch(member)) and match[1] in extra.libraries:
            return f"lib/{match[1]}"
        if (match := LICENCE.fullmatch(member)) and match[1] not in OTHER:
            return f"{licences}/{match[1]}"
        return None

    for wheel in context.files:
        unpack_zip(wheel, context.root, place)
    for path in folder.iterdir():
        path.chmod(0o755)
    missing = [name for name in extra.libraries if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"no library {', '.join(missing)} in the recipe's wheels",
            fix="correct `extra.libraries` in the recipe, or the wheel's version",
        )
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
