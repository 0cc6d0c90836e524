"""Shared libraries out of NVIDIA's wheels, byte for byte as NVIDIA built them.

They find one another in the folder that they lie in. The host's driver is no part of them.
"""

from __future__ import annotations

import zipfile
from pathlib import PurePosixPath

from stacks.errors import UsageError
from stacks.stages import NvidiaWheel
from stacks.staging.work import Work


def stage(work: Work) -> None:
    """Copy the recipe's libraries from its wheels to lib/, with the links that it names.

    Raises UsageError where no wheel has one of them.
    """
    extra = work.recipe.extra
    assert isinstance(extra, NvidiaWheel)
    folder = work.root / "lib"
    licences = work.root / "share/licenses" / work.recipe.package.name
    folder.mkdir()
    licences.mkdir(parents=True)
    for wheel in work.files:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                path = PurePosixPath(name)
                if path.name in extra.libraries:
                    (folder / path.name).write_bytes(archive.read(name))
                    (folder / path.name).chmod(0o755)
                elif path.name == "License.txt":
                    (licences / path.name).write_bytes(archive.read(name))
    missing = [name for name in extra.libraries if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"no library {', '.join(missing)} in the recipe's wheels",
            mend="correct `extra.libraries` in the recipe, or the wheel's version",
        )
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
