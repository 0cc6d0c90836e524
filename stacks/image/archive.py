"""A layer as a tar archive that is the same bytes wherever it is written, and what is in it."""

from __future__ import annotations

import hashlib
import stat
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from stacks.errors import IntegrityError
from stacks.image.config import EPOCH

KINDS = {
    tarfile.DIRTYPE: "folder",
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.SYMTYPE: "link",
}


@dataclass(frozen=True)
class Entry:
    """What an image has at a path: `content` is a file's SHA-256 or the text of a link."""

    kind: str
    mode: int
    owner: str
    time: int
    content: str


def write(folder: Path, file: Path) -> dict[str, Entry]:
    """Write all that lies in a folder into a tar archive, and return what went in, by path."""
    written: dict[str, Entry] = {}
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in _below(folder):
            member = _member(path, path.relative_to(folder).as_posix())
            if member.isreg():
                with path.open("rb") as data:
                    reader = _Hashing(data)
                    archive.addfile(member, reader)
                written[member.name] = _entry(member, reader.digest.hexdigest())
            else:
                archive.addfile(member)
                written[member.name] = _entry(member, member.linkname)
    return written


def read(stream: IO[bytes]) -> Iterator[tuple[str, Entry]]:
    """Yield the path and entry of each member of a tar archive, as an engine exports it."""
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            content = member.linkname
            if member.isreg():
                data = archive.extractfile(member)
                assert data
                digest = hashlib.sha256()
                while block := data.read(1 << 20):
                    digest.update(block)
                content = digest.hexdigest()
            yield member.name.removeprefix("./").rstrip("/"), _entry(member, content)


def compare(expected: dict[str, Entry], found: Iterable[tuple[str, Entry]], what: str) -> None:
    """Raise IntegrityError unless everything expected was found as it should be."""
    missing = dict(expected)
    faults = []
    for path, entry in found:
        wanted = missing.pop(path, None)
        if wanted not in (None, entry):
            faults.append(f"{path}: {_difference(wanted, entry)}")
    faults += [f"{path}: missing" for path in sorted(missing)]
    if faults:
        raise IntegrityError(
            f"{len(faults)} files of {what} are not the ones that were laid out",
            found="; ".join(faults[:3]),
            mend="run the command again; if it stays, check the disk and the engine's storage",
        )


def _difference(wanted: Entry | None, found: Entry) -> str:
    for name in ("kind", "content", "mode", "owner", "time"):
        have, want = getattr(found, name), getattr(wanted, name)
        if have != want:
            shown = (oct(have), oct(want)) if name == "mode" else (have, want)
            return f"its {name} is {shown[0]}, not {shown[1]}"
    raise AssertionError(wanted)


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)


def _member(path: Path, name: str) -> tarfile.TarInfo:
    # One that tarfile makes from the disk would carry owners, clocks and links between names.
    member, status = tarfile.TarInfo(name), path.lstat()
    member.mtime = EPOCH
    member.mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        member.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(status.st_mode):
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
    else:
        member.size = status.st_size
    return member


def _entry(member: tarfile.TarInfo, content: str) -> Entry:
    return Entry(
        KINDS.get(member.type, f"of type {member.type!r}"),
        stat.S_IMODE(member.mode),
        f"{member.uid}:{member.gid}",
        int(member.mtime),
        content,
    )


class _Hashing:
    """Reads a file, hashing what passes."""

    def __init__(self, data: IO[bytes]) -> None:
        self._data, self.digest = data, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._data.read(size)
        self.digest.update(block)
        return block
