"""One function of a library that there is no newer one of, replaced by one of the project's own.

It is for a fault that nothing around the library can fix, in a wheel that is known to the byte.
The source is assembled and linked for the place of the old function, by the channel's own tools.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from stacks.channel.stages import Replaced
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.compiled_library import gcc
from stacks.core.errors import IntegrityError

# INT3: what is left of the old function ends the program where it is reached.
TRAP = b"\xcc"


def replace_function(work: Work, library: Path, replaced: Replaced) -> None:
    """Put the recipe's src/FUNCTION.s in the place of a library's function of that name.

    Raises IntegrityError where the function is not there, is another one than the recipe knows, or
    has too little room.
    """
    name, data = replaced.function, bytearray(library.read_bytes())
    address, offset = _place(library, name)
    end = offset + replaced.room
    found = hashlib.sha256(data[offset:end]).hexdigest()
    if found != replaced.sha256:
        raise IntegrityError(
            f"{library.name}: {name} is not the function that the recipe replaces",
            expected=f"{replaced.room} bytes of sha256 {replaced.sha256}",
            found=found,
            fix="see whether it is still needed, and correct `extra.replaced` in the recipe",
        )
    new = _linked(work, name, address, replaced.calls)
    if len(new) > replaced.room:
        raise IntegrityError(
            f"src/{name}.s is too long for its place in {library.name}",
            expected=f"at most {replaced.room} bytes",
            found=f"{len(new)}",
            fix="make it shorter",
        )
    data[offset:end] = new.ljust(replaced.room, TRAP)
    library.write_bytes(data)


def _place(library: Path, name: str) -> tuple[int, int]:
    """Return a dynamic function's address, and its offset in the file."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".dynsym")
        symbols = table.get_symbol_by_name(name) if isinstance(table, SymbolTableSection) else None
        for symbol in symbols or ():
            for offset in elf.address_offsets(symbol["st_value"]):
                return symbol["st_value"], offset
    raise IntegrityError(
        f"{library.name} has no function {name}",
        fix="correct `extra.replaced` in the recipe",
    )


def _linked(work: Work, name: str, address: int, calls: dict[str, int]) -> bytes:
    """Return the machine code of src/NAME.s at an address."""
    [source] = [path for path in work.recipe.own_sources() if path.name == f"{name}.s"]
    shutil.copyfile(source, work.scratch / source.name)
    names = [f"-Wl,--defsym,{called}={place:#x}" for called, place in calls.items()]
    layout = [f"-Wl,-Ttext={address:#x}", "-Wl,--oformat=binary", "-Wl,--build-id=none"]
    arguments = ["-nostdlib", "-static", *layout, *names, f"-Wl,-e,{name}"]
    gcc(work, work.scratch, [*arguments, source.name, "-o", "code"])
    return (work.scratch / "code").read_bytes()
