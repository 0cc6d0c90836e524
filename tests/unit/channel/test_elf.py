"""ELF files: their symbols and needs, debug information, a replaced function."""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path

import pytest
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from stacks.channel.staging.binaries import locate
from stacks.channel.staging.elf import PATCHELF, exported, imported, is_dynamic, needed, shorten
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from unit.helpers.staging import elf_library, make, make_context


def test_a_broken_elf_file_is_named_and_gives_no_other_error(tmp_path: Path) -> None:
    generator, refused, path = random.Random(16), 0, tmp_path / "liba.so"
    broken = [b"\x7fELF", b"\x7fELF\2\1\1" + bytes(57), elf_library()[:100]]
    for _ in range(60):
        data = bytearray(elf_library())
        start = generator.randrange(16, 64)
        value = generator.choice((b"\xff" * 8, bytes(8), b"\xff\xff\xff\x7f"))
        data[start : start + len(value)] = value
        broken.append(bytes(data))
    for content in broken:
        for function in (exported, imported, needed, is_dynamic, shorten):
            path.write_bytes(content)
            try:
                function(path)
            except IntegrityError as error:
                assert error.what.startswith("liba.so: a broken ELF file")
                refused += 1
    assert refused > 60


def loaded(path: Path) -> dict[str, tuple[int, bytes]]:
    """Return what the loader puts at which address, by the names of the sections."""
    with path.open("rb") as file:
        found = ELFFile(file)
        # It refuses segments whose addresses do not fit their offsets.
        for segment in found.iter_segments("PT_LOAD"):
            assert (segment["p_offset"] - segment["p_vaddr"]) % segment["p_align"] == 0
        loaded = [each for each in found.iter_sections() if each["sh_flags"] & SH_FLAGS.SHF_ALLOC]
        return {each.name: (each["sh_addr"], each.data()) for each in loaded}


def test_debug_information_is_removed_and_all_else_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    path.write_bytes(elf_library())
    before, size = loaded(path), path.stat().st_size
    shorten(path)
    assert loaded(path) == before and path.stat().st_size < size / 2
    once = path.read_bytes()
    shorten(path)
    assert path.read_bytes() == once


def test_a_shortened_module_that_patchelf_has_rewritten_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    path.write_bytes(elf_library("zstandard.backend_c"))
    call([PATCHELF, "--force-rpath", "--set-rpath", "/a" * 500, path])
    shorten(path)
    call([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(path)!r})"])


# A library that every Python has loaded, and a function of it.
LIBC = Path(
    next(
        line.split()[-1]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "/libc.so" in line or "/libc-2" in line
    )
)
NAME, ROOM = "getppid", 8
POCL = "pocl_binary_distribution/.libs/share/pocl"


def replace(tmp_path: Path, code: bytes, **changes: object) -> bytes:
    """Make a PoCL whose library is the C library, with a compiler that outputs this code."""
    data = LIBC.read_bytes()
    _, offset = locate(LIBC, NAME)
    replaced = {
        "function": NAME,
        "room": ROOM,
        "sha256": hashlib.sha256(data[offset : offset + ROOM]).hexdigest(),
        "calls": {"called": 16},
    }
    context = make_context(
        tmp_path,
        {"stage": "pocl", "gcc": "10", "replaced": replaced | changes},
        wheel={"pyopencl/.libs/libpocl-1.so": data, f"{POCL}/licenses/x": ""},
        src={f"{NAME}.s": "nop\n"},
    )
    (context.tools / "bin").mkdir(parents=True)
    (tmp_path / "code").write_bytes(code)
    gcc = context.tools / "bin/gcc"
    gcc.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/log"\ncp "{tmp_path}/code" code\n')
    gcc.chmod(0o755)
    return (make(context) / "lib/pocl/pyopencl/.libs/libpocl-1.so").read_bytes()


def test_only_the_function_is_replaced(tmp_path: Path) -> None:
    address, offset = locate(LIBC, NAME)
    before = LIBC.read_bytes()
    new = b"new".ljust(ROOM, b"\xcc")
    assert replace(tmp_path, b"new") == before[:offset] + new + before[offset + ROOM :]
    options = (tmp_path / "log").read_text()
    assert f"-Wl,-Ttext={address:#x}" in options and "-Wl,--defsym,called=0x10" in options


@pytest.mark.parametrize(
    ("code", "changes", "message"),
    [
        (b"new", {"function": "no_such"}, r"libpocl-1\.so has no function no_such"),
        (b"new", {"sha256": "0" * 64}, "getppid is not the function that the recipe replaces"),
        (bytes(9), {}, r"(?s)getppid\.s is longer than .* libpocl-1\.so.*at most 8 bytes"),
    ],
)
def test_a_function_that_cannot_be_replaced(
    code: bytes, changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=message):
        replace(tmp_path, code, **changes)
