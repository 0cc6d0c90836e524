"""The members of debs, tar archives and zip archives, read as streams.

Nothing is written here. What a member may be called and where it may go is decided in unpack.py.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, ClassVar, cast

import zstandard

if TYPE_CHECKING:
    from typing_extensions import Self

# Kinds of members; any other kind is refused.
FILE, FOLDER, LINK, HARD_LINK = "file", "folder", "link", "hard link"
# Bytes that are read at once.
BLOCK = 1 << 20
# Bytes: the largest long name or extended header, which tarfile reads into memory.
LONGEST_HEADER = 1 << 20
# Kinds of members that tar readers disagree on: global and Solaris headers, files with holes.
AMBIGUOUS = (tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE)
BOMB = "it unpacks to far more than its size"
_AR_MAGIC, _AR_HEADER = b"!<arch>\n", 60


class BrokenError(Exception):
    """A fault inside an archive, without the archive's path, which the caller adds."""


@dataclass(frozen=True)
class Member:
    """A member of an archive.

    kind: FILE, FOLDER, LINK, HARD_LINK, or words for what is refused. target: of a link. mtime: its
    time of change in seconds, None for the time of unpacking. read: opens the content of a file; to
    be called before the next member is asked for.
    """

    name: str
    kind: str
    mode: int = 0
    size: int = 0
    target: str = ""
    mtime: float | None = None
    read: Callable[[], IO[bytes] | None] = lambda: None


class _Header(tarfile.TarInfo):
    """A header of a tar archive; TarFile takes a broken one for the end of the archive."""

    refused: ClassVar[tuple[bytes, ...]] = ()

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise BrokenError(f"a header is broken: {error}") from error

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        is_extended = header.type not in tarfile.REGULAR_TYPES
        if header.size < 0 or (is_extended and header.size > LONGEST_HEADER):
            raise BrokenError(f"a name or header of {header.size} bytes")
        if header.type in cls.refused:
            raise BrokenError(
                f"a header of the kind {header.type!r}, which readers read in two ways"
            )
        return header


class _StrictHeader(_Header):
    """A header that every reader of tar archives reads in the same way."""

    refused = AMBIGUOUS


class _Limited:
    """A stream that raises BrokenError once it gave more than `limit` bytes.

    The limit is for all bytes: tarfile keeps every header in memory.
    """

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream, self._left = stream, limit

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes."""
        block = self._stream.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise BrokenError(BOMB)
        return block


def tar_members(stream: IO[bytes], limit: int, *, strict: bool = False) -> Iterator[Member]:
    """Yield the members of a tar archive, compressed or not, then read it to its end.

    limit: the bytes that it may have, decompressed. strict: whether to refuse what other readers
    may see differently. Raises BrokenError, and what the readers of the standard library and
    zstandard raise.
    """
    header = _StrictHeader if strict else _Header
    plain = cast(IO[bytes], _Limited(_decompressed(stream), limit))
    with tarfile.open(fileobj=plain, mode="r|", encoding="utf-8", tarinfo=header) as tar:
        for info in tar:
            # Before anything of it is written.
            limit -= info.size
            if limit < 0:
                raise BrokenError(BOMB)
            if strict and info.issparse():
                raise BrokenError(f"{info.name!r} has holes, which readers read in two ways")
            yield Member(
                info.name,
                _kind(info),
                info.mode & 0o777,
                info.size,
                info.linkname,
                read=partial(tar.extractfile, info),
                mtime=info.mtime if strict else None,
            )
        _read_to_end(tar, strict)


def _kind(info: tarfile.TarInfo) -> str:
    if info.isreg() and not info.issparse():
        return FILE
    if info.isdir():
        return FOLDER
    if info.issym():
        return LINK
    return HARD_LINK if info.islnk() else "neither file, folder nor link"


def _read_to_end(tar: tarfile.TarFile, strict: bool) -> None:
    """Read what follows the last member, so that a checksum there is compared."""
    assert tar.fileobj is not None
    while block := tar.fileobj.read(BLOCK):
        if strict and any(block):
            raise BrokenError("data follow the end of a tar archive")


def _decompressed(stream: IO[bytes]) -> IO[bytes]:
    """Return the decompressed bytes of a stream, whose first bytes name the compression."""
    peek = cast(io.BufferedReader, stream).peek(8)
    if peek.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(stream))
    if peek.startswith(b"BZh"):
        return cast(IO[bytes], bz2.open(stream))
    if peek.startswith(b"\xfd7zXZ\0"):
        return lzma.open(stream)
    if peek.startswith(b"\x28\xb5\x2f\xfd"):
        return zstandard.ZstdDecompressor().stream_reader(stream, read_size=BLOCK)
    return stream


def deb_section(file: IO[bytes], name: str) -> IO[bytes]:
    """Return the tar archive of a deb, an ar archive (ar(5)), whose name begins with `name`.

    Raises BrokenError where the deb is broken or lacks it.
    """
    if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
        raise BrokenError("it is not an ar archive")
    while header := file.read(_AR_HEADER):
        length = header[48:58].strip()
        if len(header) != _AR_HEADER or header[58:] != b"`\n" or not length.isdigit():
            raise BrokenError("its ar header is broken")
        size = int(length)
        if header.startswith(name.encode()):
            # Before so much memory is taken.
            if size > os.fstat(file.fileno()).st_size - file.tell():
                raise BrokenError("it is truncated")
            return cast(IO[bytes], io.BufferedReader(io.BytesIO(file.read(size))))
        file.seek(size + size % 2, os.SEEK_CUR)
    raise BrokenError(f"it has no {name}")


def zip_members(archive: zipfile.ZipFile, limit: int) -> Iterator[Member]:
    """Yield the members of a zip archive, with mode 644 or 755; links are refused.

    limit: the bytes that it may have, decompressed.
    """
    if sum(info.file_size for info in archive.infolist()) > limit:
        raise BrokenError(BOMB)
    for info in archive.infolist():
        mode = info.external_attr >> 16
        kind = FOLDER if info.is_dir() else FILE
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            kind = "neither file nor folder"
        yield Member(
            # zipfile cuts a name at a NUL.
            info.orig_filename if "\0" in info.orig_filename else info.filename,
            kind,
            0o755 if kind == FOLDER or mode & 0o111 else 0o644,
            info.file_size,
            read=partial(archive.open, info),
        )
