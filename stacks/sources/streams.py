"""Bytes of compressed files and of members of ar archives, as streams with a limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from typing import IO, TYPE_CHECKING, cast

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MAGIC = b"!<arch>\n"
_HEADER = 60


class BrokenError(Exception):
    """A fault inside an archive, without the archive's path, which the caller adds."""


class _Limited(io.RawIOBase):
    """The bytes of a stream, which may not be more than a limit."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream, self._left = stream, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        block = self._stream.read(len(view))
        self._left -= len(block)
        if self._left < 0:
            raise BrokenError("it unpacks to far more than its size")
        view[: len(block)] = block
        return len(block)


class _Section(io.RawIOBase):
    """The next `size` bytes of a file."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)[: self._left]
        block = self._file.read(len(view))
        if len(block) < len(view):
            raise EOFError("it is truncated")
        view[:] = block
        self._left -= len(block)
        return len(block)


def limited(stream: IO[bytes], limit: int) -> IO[bytes]:
    """Return the bytes of a stream; reading more than `limit` of them raises BrokenError."""
    return io.BufferedReader(_Limited(stream, limit))


def section_of_ar(file: IO[bytes], name: str) -> IO[bytes]:
    """Return the member of an ar archive (ar(5)) whose name begins with `name` as a stream.

    Raises BrokenError where the archive is broken or lacks it.
    """
    if file.read(len(_MAGIC)) != _MAGIC:
        raise BrokenError("it is not an ar archive")
    while header := file.read(_HEADER):
        size = header[48:58].strip()
        if len(header) != _HEADER or header[58:] != b"`\n" or not size.isdigit():
            raise BrokenError("its ar header is broken")
        if header.startswith(name.encode()):
            return io.BufferedReader(_Section(file, int(size)))
        file.seek(int(size) + int(size) % 2, os.SEEK_CUR)
    raise BrokenError(f"it has no {name}")


def decompressed(stream: IO[bytes]) -> IO[bytes]:
    """Return the decompressed bytes of a stream, whose first bytes name the compression."""
    peek = cast(io.BufferedReader, stream).peek(8)
    if peek.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(stream))
    if peek.startswith(b"BZh"):
        return cast(IO[bytes], bz2.open(stream))
    if peek.startswith(b"\xfd7zXZ\0"):
        return lzma.open(stream)
    if peek.startswith(b"\x28\xb5\x2f\xfd"):
        return zstandard.ZstdDecompressor().stream_reader(stream)
    return stream
