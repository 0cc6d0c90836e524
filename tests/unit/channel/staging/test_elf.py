from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from stacks.channel.staging.elf import (
    elf_files,
    exported,
    imported,
    is_dynamic,
    is_elf,
    needed,
    set_rpath,
)
from stacks.channel.staging.shortened_elf import shorten
from stacks.core.errors import IntegrityError
from unit.helpers.staging import elf_library


def test_elf_files_are_recognised_by_their_bytes(tmp_path: Path) -> None:
    shutil.copy(Path(sys.executable).resolve(), tmp_path / "program")
    (tmp_path / "link").symlink_to("program")
    (tmp_path / "text.so").write_text("INPUT(libc.so.6)")
    (tmp_path / "empty").touch()
    assert list(elf_files(tmp_path)) == [tmp_path / "program"]
    assert is_dynamic(tmp_path / "program")
    assert not is_elf(tmp_path / "link")


def test_the_rpath_is_relative_to_the_file(tmp_path: Path) -> None:
    program = tmp_path / "bin/program"
    program.parent.mkdir()
    shutil.copy(Path(sys.executable).resolve(), program)
    program.chmod(0o555)
    set_rpath([program], tmp_path / "lib", tmp_path / "bin")
    with program.open("rb") as file:
        elf = ELFFile(file)
        section = elf.get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        tags = [vars(tag) for tag in section.iter_tags()]
    assert [tag["rpath"] for tag in tags if "rpath" in tag] == ["$ORIGIN/../lib:$ORIGIN"]
    assert not [tag for tag in tags if "runpath" in tag]


def test_symbols_and_needs_of_a_library(tmp_path: Path) -> None:
    library = tmp_path / "liba.so"
    library.write_bytes(elf_library())
    assert exported(library, "PyInit_") == ["PyInit__speedups"]
    assert "PyInit__speedups" not in imported(library)
    assert "PyUnicode_New" in imported(library)
    assert "libc.so.6" in needed(library)


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF",
        b"\x7fELF\2\1\1" + bytes(57),
        elf_library()[:100],
        elf_library()[:40] + b"\xff" * 8 + elf_library()[48:],
    ],
)
def test_a_broken_elf_file_is_named(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "liba.so").write_bytes(data)
    for function in (exported, imported, shorten):
        with pytest.raises(IntegrityError, match=r"liba\.so: a broken ELF file"):
            function(tmp_path / "liba.so")


def test_damage_of_an_elf_file_gives_no_other_error(tmp_path: Path) -> None:
    generator, refused = random.Random(16), 0
    for _ in range(60):
        data = bytearray(elf_library())
        start = generator.randrange(16, 64)
        value = generator.choice((b"\xff" * 8, bytes(8), b"\xff\xff\xff\x7f"))
        data[start : start + len(value)] = value
        for function in (exported, imported, needed, is_dynamic, shorten):
            (tmp_path / "liba.so").write_bytes(data)
            try:
                function(tmp_path / "liba.so")
            except IntegrityError:
                refused += 1
    assert refused > 50
