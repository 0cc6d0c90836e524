"""What every file of an image's layers was when they were laid out: they may lie there for long."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError

NAME = "manifest.json"


def write(place: Path, folders: Iterable[Path]) -> None:
    """Write down the SHA-256 of each file and where each link leads, beside the folders."""
    (place / NAME).write_text(json.dumps(read(folders), sort_keys=True) + "\n")


def read(folders: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file below the folders, or where a link leads, by its path."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else sha256_of(path)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def check(place: Path, found: Mapping[str, str]) -> None:
    """Raise IntegrityError unless the files that go into an image are those that were laid out.

    `found` has the SHA-256 of each file, or where a link leads, by its path in the image.
    """
    wanted = json.loads((place / NAME).read_bytes())
    changed = sorted(n for n in {*wanted, *found} if wanted.get(n) != found.get(n))
    if changed:
        raise IntegrityError(
            f"{len(changed)} files of {place} have changed since they were laid out",
            found=", ".join(changed[:3]),
            fix=f"rm -r {place}, then run the command again; if it stays, check the disk",
        )
