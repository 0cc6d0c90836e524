"""Entries of an image's archives: of those it was built from, and of its export."""

from __future__ import annotations

import hashlib
import stat
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from stacks.core.errors import IntegrityError

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


def check_entries(
    expected: dict[str, Entry], found: Iterable[tuple[str, Entry]], image: str
) -> None:
    """Raise IntegrityError unless `found` has every expected entry; it may have others."""
    missing = dict(expected)
    faults = []
    for path, entry in found:
        original = missing.pop(path, entry)
        if original != entry:
            faults.append(f"{path}: {_difference(original, entry)}")
    faults += [f"{path}: missing" for path in sorted(missing)]
    if faults:
        raise IntegrityError(
            f"{len(faults)} files of {image} differ from the layers it was built from",
            found="; ".join(faults[:3]),
            fix="run the command again; if it fails again, check the disk and the engine's storage",
        )


def _difference(expected: Entry, found: Entry) -> str:
    for name in ("kind", "content", "mode", "owner", "time"):
        values = getattr(found, name), getattr(expected, name)
        if values[0] != values[1]:
            texts = map(oct, values) if name == "mode" else map(str, values)
            return f"its {name} is {', not '.join(texts)}"
    raise AssertionError(expected)


def _entry(member: tarfile.TarInfo, content: str) -> Entry:
    return Entry(
        KINDS.get(member.type, f"of type {member.type!r}"),
        stat.S_IMODE(member.mode),
        f"{member.uid}:{member.gid}",
        # Engines add files of their own to folders of the image, which changes these.
        0 if member.isdir() else int(member.mtime),
        content,
    )
