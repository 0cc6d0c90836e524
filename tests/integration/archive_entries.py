"""Entries of tar archives: of an image's layers, and of a container's export."""

from __future__ import annotations

import hashlib
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

KINDS = {
    tarfile.DIRTYPE: "folder",
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.SYMTYPE: "link",
}


@dataclass(frozen=True)
class Entry:
    """What is at a path of an image; `content` is a file's SHA-256 or a link's target."""

    kind: str
    mode: int
    owner: str
    time: int
    content: str


def read_entries(stream: IO[bytes]) -> Iterator[tuple[str, Entry]]:
    """Yield the path and entry of each member of a tar archive: a layer, or an engine's export."""
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


def _entry(member: tarfile.TarInfo, content: str) -> Entry:
    return Entry(
        KINDS.get(member.type, f"of type {member.type!r}"),
        stat.S_IMODE(member.mode),
        f"{member.uid}:{member.gid}",
        # Engines add files of their own to folders of the image, which changes these.
        0 if member.isdir() else int(member.mtime),
        content,
    )
