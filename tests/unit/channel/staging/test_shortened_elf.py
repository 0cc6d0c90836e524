from __future__ import annotations

import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

from stacks.channel.staging import shortened_elf
from stacks.channel.staging.elf import PATCHELF
from stacks.core.process import call
from unit.helpers.staging import elf_library

PAGE = 0x1000
JUNK = b"debug information " * 1000


def elf(path: Path) -> dict[int, bytes]:
    """Write a module as patchelf leaves it, and return what the loader puts at which address."""
    first = b"code".ljust(0x80, b".")
    begin = 64 + 2 * 56
    second_at = -(-(begin + len(first) + len(JUNK)) // PAGE) * PAGE
    second, names = b"data".ljust(0x40, b"!"), b"\0.text\0.debug_info\0.data\0.shstrtab\0"
    names_at = second_at + len(second)
    sections_at = names_at + len(names) + (-(names_at + len(names)) % 8)
    header = shortened_elf.HEADER.pack(
        b"\x7fELF\2\1\1".ljust(16, b"\0"), 3, 62, 1, 0, 64, sections_at, 0, 64, 56, 2, 64, 5, 4
    )
    segments = [
        (1, 5, 0, 0, 0, begin + len(first), begin + len(first), PAGE),
        (1, 6, second_at, 0x9000, 0x9000, len(second), len(second), PAGE),
    ]
    sections = [
        (0,) * 10,
        (1, 1, 2, begin, begin, len(first), 0, 0, 1, 0),
        (7, 1, 0, 0, begin + len(first), len(JUNK), 0, 0, 1, 0),
        (19, 1, 2, 0x9000, second_at, len(second), 0, 0, 1, 0),
        (25, 3, 0, 0, names_at, len(names), 0, 0, 1, 0),
    ]
    data = header + b"".join(shortened_elf.SEGMENT.pack(*s) for s in segments) + first + JUNK
    data = (data.ljust(second_at, b"\0") + second + names).ljust(sections_at, b"\0")
    path.write_bytes(data + b"".join(shortened_elf.SECTION.pack(*s) for s in sections))
    return {begin: first, 0x9000: second}


def test_debug_information_is_removed_and_all_else_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    loaded = elf(path)
    before = path.stat().st_size
    shortened_elf.shorten(path)
    removed = before - path.stat().st_size
    assert removed % PAGE == 0 and removed > len(JUNK) - 2 * PAGE
    with path.open("rb") as file:
        found = ELFFile(file)
        assert [s.name for s in found.iter_sections()] == ["", ".text", "", ".data", ".shstrtab"]
        for segment in found.iter_segments():
            assert (segment["p_offset"] - segment["p_vaddr"]) % segment["p_align"] == 0
        for address, content in loaded.items():
            [section] = [s for s in found.iter_sections() if s["sh_addr"] == address and s.name]
            assert section.data() == content
            assert next(found.address_offsets(address)) == section["sh_offset"]
    once = path.read_bytes()
    shortened_elf.shorten(path)
    assert path.read_bytes() == once


def test_a_shortened_module_that_patchelf_has_rewritten_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    path.write_bytes(elf_library("zstandard.backend_c"))
    call([PATCHELF, "--force-rpath", "--set-rpath", "/a" * 500, path])
    shortened_elf.shorten(path)
    call([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(path)!r})"])
