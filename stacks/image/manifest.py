"""The digests of an image's files when its layers were made: they may stay on disk for long."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError

NAME = "manifest.json"


def write(layout: Path, folders: Iterable[Path]) -> None:
    """Write the digests of the layers in `folders` to the layout's folder."""
    (layout / NAME).write_text(json.dumps(file_digests(folders), sort_keys=True) + "\n")


def file_digests(folders: Iterable[Path]) -> dict[str, str]:
    """Return {path: SHA-256 of the file or target of the link} of all that is below the folders."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else sha256_of(path)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def check(layout: Path, digests: Mapping[str, str]) -> None:
    """Raise IntegrityError unless the files that file_digests() hashed are those of the layout."""
    expected = json.loads((layout / NAME).read_bytes())
    changed = sorted(n for n in {*expected, *digests} if expected.get(n) != digests.get(n))
    if changed:
        raise IntegrityError(
            f"{len(changed)} files of {layout} changed after the layers were made",
            found=", ".join(changed[:3]),
            fix=f"rm -r {layout}, then run the command again; if it fails again, check the disk",
        )
