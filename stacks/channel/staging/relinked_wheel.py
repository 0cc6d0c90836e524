"""Wheels of NumPy and SciPy without the BLAS that they carry: linked to libblas.so.3 instead.

Their modules call BLAS and LAPACK by the same names and types whichever library serves them, so
only the name of the library that they need is changed: what libblas.so.3 does not have itself, the
libraries that it needs have. That is so for wheels with the 32-bit interface; NumPy's from 1.22 on
have the 64-bit one, which no library here offers.
"""

from __future__ import annotations

import re
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.stages import RelinkedWheel
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.elf import PATCHELF, elf_files, imported, needed
from stacks.channel.staging.replace_text import replace_once
from stacks.channel.staging.wheel import unpack_wheel
from stacks.core.errors import IntegrityError
from stacks.core.process import call

COMMON_NAME = "libblas.so.3"
# These return a complex number, which gfortran's functions, and so SciPy's callers, do in another
# way than MKL's. MKL puts its own before all others when it is loaded, so libblas.so.3 offers those
# of gfortran's kind by names that no library has.
COMPLEX = ("cdotc_", "cdotu_", "zdotc_", "zdotu_", "cladiv_", "zladiv_")
GFORTRAN = {name: name[:-1] + "g" for name in COMPLEX}
# The structures of 64-bit ELF files, and what is asked of them here.
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
LOAD, NULL, NOBITS, ALLOC = 1, 0, 8, 2
ALIGNMENT = 8
# What numpy.show_config() tells, and what numpy.distutils and Theano take for linker flags.
CONFIG = """
import glob as _glob
_prefix = getattr(sys, "base_prefix", sys.prefix)
_library = {
    "libraries": ["cblas", "blas"],
    "library_dirs": [os.path.join(_prefix, "lib")],
    "language": "c",
    "define_macros": [("HAVE_CBLAS", None)],
    "package": [
        os.path.basename(name)[: -len(".json")]
        for name in _glob.glob(os.path.join(_prefix, "conda-meta", "libblas-*.json"))
    ],
}
blas_info = blas_opt_info = _library
lapack_info = lapack_opt_info = dict(_library, libraries=["lapack", "cblas", "blas"])
"""


def stage(work: Work) -> None:
    """Unpack the recipe's wheel, link its modules to libblas, and take out what no program needs.

    That is the debug information of its modules, and what the recipe leaves out. Raises
    IntegrityError where no module needs the library that the recipe names, or nothing is left out.
    """
    extra = work.recipe.extra
    assert isinstance(extra, RelinkedWheel)
    [wheel] = work.files
    unpack_wheel(wheel, work.root, extra.site_packages, work.root / "bin")
    modules = [path for path in elf_files(work.root) if extra.replaces in needed(path)]
    if not modules:
        raise IntegrityError(
            f"{wheel.name}: no module needs {extra.replaces}",
            fix="correct `extra.replaces` in the recipe",
        )
    for path in modules:
        _relink(path, extra.replaces, work.scratch / "renames")
    _drop(work.root, extra.replaces)
    for pattern in extra.leave_out:
        _leave_out(work.root / extra.site_packages, pattern)
    for edit in extra.edits:
        fix = "correct `extra.edits` in the recipe"
        replace_once(work.root / extra.site_packages / edit.file, edit.old, edit.new, fix)
    for path in elf_files(work.root):
        cut(path)
    for config in sorted((work.root / extra.site_packages).glob("numpy/**/__config__.py")):
        _tell(config)


def _relink(module: Path, replaced: str, renames: Path) -> None:
    """Write the common name over the longer one of the wheel's library, in place.

    patchelf would add megabytes to each of these old files. The folder of the new library needs
    no mention: the executable's DT_RPATH leads there.
    """
    old = b"\0" + replaced.encode() + b"\0"
    new = (b"\0" + COMMON_NAME.encode()).ljust(len(old), b"\0")
    content = module.read_bytes()
    if content.count(old) != 1 or len(new) != len(old):
        raise IntegrityError(
            f"{module.name}: {replaced} cannot be written over",
            expected="that name once, and longer than the new one",
            found=f"{content.count(old)} times",
            fix="do not use this wheel",
        )
    content = content.replace(old, new)
    for name, ours in GFORTRAN.items():
        content = content.replace(b"\0%s\0" % name.encode(), b"\0%s\0" % ours.encode())
    module.write_bytes(content)
    left = [name for name in imported(module) if name in GFORTRAN]
    if left:
        # The name is the end of a longer one, and the linker has kept it there only.
        renames.write_text("".join(f"{name} {GFORTRAN[name]}\n" for name in left))
        call([PATCHELF, "--rename-dynamic-symbols", renames, module])


def _drop(root: Path, replaced: str) -> None:
    """Remove the library, and then those beside it that nothing needs any more."""
    [library] = root.rglob(replaced)
    folder = library.parent
    library.unlink()
    while True:
        wanted = {name for path in elf_files(root) for name in needed(path)}
        unused = [path for path in sorted(folder.iterdir()) if path.name not in wanted]
        for path in unused:
            path.unlink()
        if not unused:
            break
    if not any(folder.iterdir()):
        folder.rmdir()


def _leave_out(folder: Path, pattern: str) -> None:
    found = sorted(folder.glob(pattern))
    if not found:
        raise IntegrityError(
            f"the wheel has no {pattern}", fix="correct `extra.leave_out` in the recipe"
        )
    for path in found:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _tell(config: Path) -> None:
    text = config.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not re.match(r"\w+_info ?= ?\{", line)]
    head = next(i for i, line in enumerate(lines) if line.startswith("def "))
    imports = "import os\nimport sys\n"
    body = "\n".join([*lines[:head], imports + CONFIG, *lines[head:]])
    config.write_text(body + "\n", encoding="utf-8")


@dataclass(frozen=True)
class _Piece:
    start: int
    end: int

    def moved(self, offset: int) -> int:
        """Return where a place of the file is when the piece is gone."""
        return offset - (self.end - self.start) if offset >= self.end else offset

    def touches(self, offset: int, size: int) -> bool:
        return offset < self.end and self.start < offset + size


def cut(path: Path) -> None:
    """Shorten a 64-bit ELF file by its largest piece that neither loader nor headers need.

    That is debug information and the symbol tables for linkers. binutils' strip cannot take it
    away: patchelf, which the wheels' makers used, puts new segments behind it, and strip moves
    those to places where the loader refuses them. Here one piece is cut out, in whole pages, and
    all else stays as it is.
    """
    data = bytearray(path.read_bytes())
    header = list(HEADER.unpack_from(data))
    segments = [list(s) for s in _table(data, SEGMENT, header[5], header[10])]
    sections = [list(s) for s in _table(data, SECTION, header[6], header[12])]
    piece = _largest(header, segments, sections, len(data))
    if piece is None:
        return
    for section in sections:
        if section[1] != NOBITS and piece.touches(section[4], section[5]):
            section[:] = [0] * len(section)
        section[4] = piece.moved(section[4])
    for segment in segments:
        segment[2] = piece.moved(segment[2])
    _write(data, SEGMENT, header[5], segments)
    _write(data, SECTION, header[6], sections)
    header[5], header[6] = piece.moved(header[5]), piece.moved(header[6])
    HEADER.pack_into(data, 0, *header)
    del data[piece.start : piece.end]
    path.write_bytes(data)


def _largest(
    header: list[int], segments: list[list[int]], sections: list[list[int]], size: int
) -> _Piece | None:
    """Return the largest piece between all that is needed, in whole pages where it moves any."""
    names = sections[header[13]]
    kept = [(0, HEADER.size), (size, 0), (names[4], names[5])]
    kept += [(header[5], header[10] * SEGMENT.size), (header[6], header[12] * SECTION.size)]
    kept += [(s[2], s[5]) for s in segments]
    kept += [(s[4], s[5]) for s in sections if s[2] & ALLOC and s[1] != NOBITS]
    best, reached = None, 0
    for offset, length in sorted(kept):
        unit = max([ALIGNMENT, *(s[7] for s in segments if s[0] == LOAD and s[2] >= offset)])
        start = -(-reached // ALIGNMENT) * ALIGNMENT
        pages = (offset - start) // unit * unit
        if pages > 0 and (best is None or pages > best.end - best.start):
            best = _Piece(start, start + pages)
        reached = max(reached, offset + length)
    return best


def _table(data: bytearray, form: struct.Struct, offset: int, count: int) -> list[tuple[int, ...]]:
    return [form.unpack_from(data, offset + number * form.size) for number in range(count)]


def _write(data: bytearray, form: struct.Struct, offset: int, rows: list[list[int]]) -> None:
    for number, row in enumerate(rows):
        form.pack_into(data, offset + number * form.size, *row)
