"""The tar archives in a conda archive, read so that no two readers can see different members."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import zstandard

# Bytes that are read at once.
BLOCK = 1 << 20
# The largest long name or extended header, in bytes; tarfile reads them into memory.
LONGEST = 1 << 20
# Kinds of members that tar readers disagree on: global and Solaris headers, files with holes.
AMBIGUOUS = (tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE)


class UnsafeError(Exception):
    """A fault inside an archive, which the message does not name."""


class _StrictTarInfo(tarfile.TarInfo):
    """A member of a tar archive; tarfile takes a broken header for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _StrictTarInfo:
        if not any(buf):
            return super().frombuf(buf, encoding, errors)
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.TarError as error:
            raise UnsafeError(f"a tar header is broken: {error}") from error
        if header.type in AMBIGUOUS:
            raise UnsafeError(
                f"a header of the kind {header.type!r}, which readers read in two ways"
            )
        is_extended = header.type not in tarfile.REGULAR_TYPES
        if is_extended and not 0 <= header.size <= LONGEST:
            raise UnsafeError(f"a name or header of {header.size} bytes")
        return header


def members_of(path: Path) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield each member of a .conda or .tar.bz2 archive with its tar archive, a stream.

    A member's content is to be read before the next one is asked for. Raises UnsafeError, and what
    the readers of the standard library and zstandard raise.
    """
    for tar in _tars(path):
        for member in tar:
            if member.issparse():
                raise UnsafeError(f"{member.name!r} has holes, which readers read in two ways")
            yield tar, member
        _check_end(tar)


def _tars(path: Path) -> Iterator[tarfile.TarFile]:
    """Yield the tar archives in a conda archive, as streams."""
    if path.name.endswith(".tar.bz2"):
        with tarfile.open(path, "r|bz2", tarinfo=_StrictTarInfo) as tar:
            yield tar
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".tar.zst")]
        for section in ("info", "pkg"):
            count = sum(name.startswith(f"{section}-") for name in names)
            if count != 1:
                raise UnsafeError(f"it has {count} {section}-*.tar.zst, not one")
        for name in sorted(names):
            with archive.open(name) as packed:
                plain = zstandard.ZstdDecompressor().stream_reader(packed, read_size=BLOCK)
                with plain, tarfile.open(fileobj=plain, mode="r|", tarinfo=_StrictTarInfo) as tar:
                    yield tar


def _check_end(tar: tarfile.TarFile) -> None:
    """Raise UnsafeError if data follow the end of a tar archive: other readers may go on."""
    assert tar.fileobj is not None
    while block := tar.fileobj.read(BLOCK):
        if any(block):
            raise UnsafeError("data follow the end of a tar archive")
