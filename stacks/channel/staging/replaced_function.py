"""Replace one function of a library's machine code by one of the project's own.

It is for a fault that nothing outside of the library can fix, and of which no newer wheel exists.
The channel's own tools assemble the source and link it for the address of the old function.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from elftools.elf.sections import SymbolTableSection

from stacks.channel.stages import Replaced
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.compiled_library import gcc
from stacks.channel.staging.elf import opened
from stacks.core.errors import IntegrityError

# INT3, which ends the program, fills the rest of the old function.
TRAP = b"\xcc"


def replace_function(context: BuildContext, library: Path, replaced: Replaced) -> None:
    """Replace the library's function `replaced.function` by the recipe's src/FUNCTION.s.

    Raises IntegrityError where the library lacks the function, its bytes are not those of
    `replaced.sha256`, or the new code is longer than `replaced.room`.
    """
    name, data = replaced.function, bytearray(library.read_bytes())
    address, offset = _locate(library, name)
    end = offset + replaced.room
    digest = hashlib.sha256(data[offset:end]).hexdigest()
    if digest != replaced.sha256:
        raise IntegrityError(
            f"{library.name}: {name} is not the function that the recipe replaces",
            expected=f"{replaced.room} bytes of sha256 {replaced.sha256}",
            found=digest,
            fix="check whether the fault still exists, and correct `extra.replaced` in the recipe",
        )
    code = _assemble(context, name, address, replaced.calls)
    if len(code) > replaced.room:
        raise IntegrityError(
            f"src/{name}.s is longer than the function in {library.name}",
            expected=f"at most {replaced.room} bytes",
            found=f"{len(code)}",
            fix="make it shorter",
        )
    data[offset:end] = code.ljust(replaced.room, TRAP)
    library.write_bytes(data)


def _locate(library: Path, name: str) -> tuple[int, int]:
    """Return (address, offset in the file) of a dynamic function."""
    with opened(library) as elf:
        table = elf.get_section_by_name(".dynsym")
        symbols = table.get_symbol_by_name(name) if isinstance(table, SymbolTableSection) else None
        for symbol in symbols or ():
            for offset in elf.address_offsets(symbol["st_value"]):
                return symbol["st_value"], offset
    raise IntegrityError(
        f"{library.name} has no function {name}", fix="correct `extra.replaced` in the recipe"
    )


def _assemble(context: BuildContext, name: str, address: int, calls: dict[str, int]) -> bytes:
    """Return the machine code of src/NAME.s at an address."""
    [source] = [path for path in context.recipe.own_sources() if path.name == f"{name}.s"]
    shutil.copyfile(source, context.scratch / source.name)
    names = [f"-Wl,--defsym,{called}={target:#x}" for called, target in calls.items()]
    layout = [f"-Wl,-Ttext={address:#x}", "-Wl,--oformat=binary", "-Wl,--build-id=none"]
    arguments = ["-nostdlib", "-static", *layout, *names, f"-Wl,-e,{name}"]
    gcc(context, context.scratch, [*arguments, source.name, "-o", "code"])
    return (context.scratch / "code").read_bytes()
