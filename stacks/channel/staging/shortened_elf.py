"""Shorten ELF files by the debug information that their linkers left in them.

binutils' strip cannot do that in the wheels of NumPy and SciPy. patchelf, which the wheels' makers
used, puts new segments behind the debug information, and strip moves those to offsets that the
loader refuses. Here one piece of the file is removed, in whole pages, and all else is unchanged.

The structures and numbers are those of 64-bit ELF: elf(5), System V ABI chapters 4 and 5.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from stacks.core.errors import IntegrityError

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
# Fields of the header: tables of segments and sections, the section with the sections' names.
SEGMENTS_AT, SECTIONS_AT, SEGMENTS, SECTIONS, NAMES = 5, 6, 10, 12, 13
LOAD, NOBITS, ALLOC = 1, 8, 2
ALIGNMENT = 8


@dataclass(frozen=True)
class _Piece:
    start: int
    end: int

    def moved(self, offset: int) -> int:
        """Return the offset of a byte after the piece is removed."""
        return offset - (self.end - self.start) if offset >= self.end else offset

    def overlaps(self, offset: int, size: int) -> bool:
        return offset < self.end and self.start < offset + size


def shorten(path: Path) -> None:
    """Remove a 64-bit ELF file's largest piece that neither the loader nor the headers need.

    That is debug information and the symbol tables for linkers. The file is unchanged where it has
    no such piece. Raises IntegrityError where it is broken.
    """
    data = bytearray(path.read_bytes())
    try:
        header = list(HEADER.unpack_from(data))
        segments = _table(data, SEGMENT, header[SEGMENTS_AT], header[SEGMENTS])
        sections = _table(data, SECTION, header[SECTIONS_AT], header[SECTIONS])
        piece = _largest_piece(header, segments, sections, len(data))
    except (struct.error, IndexError, OverflowError) as error:
        raise IntegrityError(
            f"{path.name}: a broken ELF file: {error}", fix="pin another version of its source"
        ) from error
    if piece is None:
        return
    for section in sections:
        if section[1] != NOBITS and piece.overlaps(section[4], section[5]):
            section[:] = [0] * len(section)
        section[4] = piece.moved(section[4])
    for segment in segments:
        segment[2] = piece.moved(segment[2])
    _write(data, SEGMENT, header[SEGMENTS_AT], segments)
    _write(data, SECTION, header[SECTIONS_AT], sections)
    for field in (SEGMENTS_AT, SECTIONS_AT):
        header[field] = piece.moved(header[field])
    HEADER.pack_into(data, 0, *header)
    del data[piece.start : piece.end]
    path.write_bytes(data)


def _largest_piece(
    header: list[int], segments: list[list[int]], sections: list[list[int]], size: int
) -> _Piece | None:
    """Return the largest piece that nothing needs.

    Its length is a multiple of the alignment of each loaded segment behind it.
    """
    names = sections[header[NAMES]]
    required = [(0, HEADER.size), (size, 0), (names[4], names[5])]
    required += [(header[SEGMENTS_AT], header[SEGMENTS] * SEGMENT.size)]
    required += [(header[SECTIONS_AT], header[SECTIONS] * SECTION.size)]
    required += [(s[2], s[5]) for s in segments]
    required += [(s[4], s[5]) for s in sections if s[2] & ALLOC and s[1] != NOBITS]
    best, end = None, 0
    for offset, length in sorted(required):
        unit = max([ALIGNMENT, *(s[7] for s in segments if s[0] == LOAD and s[2] >= offset)])
        start = -(-end // ALIGNMENT) * ALIGNMENT
        pages = (offset - start) // unit * unit
        if pages > 0 and (best is None or pages > best.end - best.start):
            best = _Piece(start, start + pages)
        end = max(end, offset + length)
    return best


def _table(data: bytearray, form: struct.Struct, offset: int, count: int) -> list[list[int]]:
    return [list(form.unpack_from(data, offset + number * form.size)) for number in range(count)]


def _write(data: bytearray, form: struct.Struct, offset: int, rows: list[list[int]]) -> None:
    for number, row in enumerate(rows):
        form.pack_into(data, offset + number * form.size, *row)
