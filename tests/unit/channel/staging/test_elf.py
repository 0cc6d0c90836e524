from __future__ import annotations

import shutil
import sys
from pathlib import Path

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
