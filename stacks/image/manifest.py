"""An image's files and their modes when its layers were made: they may stay on disk for long."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from stacks.core import jsonfile
from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError

NAME = "manifest.json"


def write(layout: Path, folders: Sequence[Path]) -> None:
    """Write the digests and modes of the layers in `folders` to the layout's folder."""
    content = {"digests": file_digests(folders), "modes": _modes(folders)}
    (layout / NAME).write_text(json.dumps(content, sort_keys=True) + "\n")


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


def _modes(folders: Iterable[Path]) -> dict[str, str]:
    """Return {path with its layer: mode in octal} of all that is below the folders but links."""
    return {
        str(path.relative_to(folder.parent)): f"{stat.S_IMODE(path.lstat().st_mode):o}"
        for folder in folders
        for path in folder.rglob("*")
        if not path.is_symlink()
    }


def has_modes(layout: Path, folders: Iterable[Path]) -> bool:
    """Return whether the layers have the files, folders and modes of when they were made.

    False also if the layout's manifest is missing, damaged or of an older version.
    """
    try:
        expected = jsonfile.read(layout / NAME)["modes"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(expected == _modes(folders))


def check(layout: Path, digests: Mapping[str, str]) -> None:
    """Raise IntegrityError unless the files that file_digests() hashed are those of the layout."""
    expected = json.loads((layout / NAME).read_bytes())["digests"]
    changed = sorted(n for n in {*expected, *digests} if expected.get(n) != digests.get(n))
    if changed:
        raise IntegrityError(
            f"{len(changed)} files of {layout} changed after the layers were made",
            found=", ".join(changed[:3]),
            fix=f"rm -r {layout}, then run the command again; if it fails again, check the disk",
        )
