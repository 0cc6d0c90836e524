"""Folders whose bytes decide all: normalised on disk, and written as tar archives."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from stacks.core.reproducible import EPOCH


def normalise(root: Path, folders: Mapping[str, int] | None = None) -> None:
    """Give everything in a folder the one time that images have, and modes that no umask decides.

    Files become 755 or 644, folders 755, but for the modes that `folders` names by path.
    """
    modes = folders or {}
    for path in _walk(root):
        found = path.lstat()
        name = str(path.relative_to(root))
        if not stat.S_ISLNK(found.st_mode):
            executable = stat.S_ISDIR(found.st_mode) or found.st_mode & 0o100
            mode = modes.get(name, 0o755 if executable else 0o644)
            if stat.S_IMODE(found.st_mode) != mode:
                path.chmod(mode)
        # Most files are links into the cache, which have the time already.
        if found.st_mtime_ns != EPOCH * 10**9:
            os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)


def write(root: Path, out: IO[bytes]) -> None:
    """Write a normalised folder's content as a tar archive: sorted, and owned by root."""
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(_walk(root), key=lambda path: path.relative_to(root).parts):
            if path == root:
                continue
            entry = tarfile.TarInfo(str(path.relative_to(root)))
            found = path.lstat()
            entry.mode, entry.mtime = stat.S_IMODE(found.st_mode), EPOCH
            if stat.S_ISREG(found.st_mode):
                entry.size = found.st_size
                with path.open("rb") as file:
                    tar.addfile(entry, file)
                continue
            if stat.S_ISLNK(found.st_mode):
                entry.type, entry.mode = tarfile.SYMTYPE, 0o777
                entry.linkname = str(path.readlink())
            else:
                entry.type = tarfile.DIRTYPE
            tar.addfile(entry)


def _walk(root: Path) -> Iterator[Path]:
    """Yield what is in a folder, and the folder, each after what is in it."""
    for folder, folders, names in os.walk(root, topdown=False):
        here = Path(folder)
        yield from (here / name for name in names)
        yield from (here / name for name in folders if (here / name).is_symlink())
        yield here
