"""What is in the archives of an image: what went into it, and what came out."""

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
    """What an image has at a path: `content` is a file's SHA-256 or the text of a link."""

    kind: str
    mode: int
    owner: str
    time: int
    content: str


def read(stream: IO[bytes]) -> Iterator[tuple[str, Entry]]:
    """Yield the path and entry of each member of a tar archive, layers or an engine's export."""
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
            fix="run the command again; if it stays, check the disk and the engine's storage",
        )


def _difference(wanted: Entry | None, found: Entry) -> str:
    for name in ("kind", "content", "mode", "owner", "time"):
        have, want = getattr(found, name), getattr(wanted, name)
        if have != want:
            shown = (oct(have), oct(want)) if name == "mode" else (have, want)
            return f"its {name} is {shown[0]}, not {shown[1]}"
    raise AssertionError(wanted)


def _entry(member: tarfile.TarInfo, content: str) -> Entry:
    return Entry(
        KINDS.get(member.type, f"of type {member.type!r}"),
        stat.S_IMODE(member.mode),
        f"{member.uid}:{member.gid}",
        # Engines put files of their own into a container, in folders of the image.
        0 if member.isdir() else int(member.mtime),
        content,
    )
