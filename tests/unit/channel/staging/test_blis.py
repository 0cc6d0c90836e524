"""Libraries out of wheels, and wheels linked to another library."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from stacks.channel.recipe import Recipe, read_recipes
from stacks.channel.stages import FrontLibraries
from stacks.channel.staging import relinked_wheel, wheel_libraries
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.elf import PATCHELF
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import call
from stacks.core.workspace import Workspace

RECIPE = {
    "package": {"name": "mkl", "version": "1"},
    "source": [{"project": "mkl", "version": "1", "file": "mkl.whl"}],
    "about": {"license": "x", "summary": "x"},
    "extra": {
        "stage": "wheel-libraries",
        "libraries": ["liba.so.1"],
        "links": {"liba.so": "liba.so.1"},
    },
}


def work(tmp_path: Path, *names: str) -> Work:
    with zipfile.ZipFile(tmp_path / "mkl.whl", "w") as archive:
        for name in names:
            archive.writestr(name, name)
    (tmp_path / "root").mkdir()
    recipe = Recipe.model_validate(RECIPE, strict=False)
    return Work(recipe, {"mkl.whl": tmp_path / "mkl.whl"}, tmp_path / "root", tmp_path, tmp_path)


def test_only_the_named_libraries_and_the_licences_are_taken(tmp_path: Path) -> None:
    made = work(
        tmp_path,
        "mkl-1.data/data/lib/liba.so.1",
        "mkl-1.data/data/lib/libb.so.1",
        "mkl-1.data/data/lib/sub/liba.so.1",
        "mkl-1.data/data/share/doc/mkl/licensing/third-party.txt",
        "mkl-1.dist-info/LICENSE.txt",
    )
    wheel_libraries.stage(made)
    assert sorted(str(p.relative_to(made.root)) for p in made.root.rglob("*") if p.is_file()) == [
        "lib/liba.so",
        "lib/liba.so.1",
        "share/licenses/mkl/LICENSE.txt",
        "share/licenses/mkl/third-party.txt",
    ]
    assert (made.root / "lib/liba.so.1").read_text() == "mkl-1.data/data/lib/liba.so.1"
    assert (made.root / "lib/liba.so").readlink() == Path("liba.so.1")


def test_a_library_that_the_wheel_has_no_more_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no library liba\.so\.1 in the recipe's wheels"):
        wheel_libraries.stage(work(tmp_path, "mkl-1.data/data/lib/libb.so.1"))


def test_a_wheel_that_needs_another_library_is_refused(tmp_path: Path) -> None:
    module = tmp_path / "m.so"
    module.write_bytes(b"\0libother.so\0")
    with pytest.raises(IntegrityError, match="cannot be written over"):
        relinked_wheel._relink(module, "libopenblasp-r0-1.so", tmp_path / "renames")


def test_every_libblas_offers_the_renamed_functions(workspace: Workspace) -> None:
    recipes = read_recipes(workspace.recipes)
    fronts = {n: r for n, r in recipes.items() if r.package.name == "libblas"}
    assert sorted(fronts) == ["libblas-blis", "libblas-mkl", "libblas-openblas"]
    for recipe in fronts.values():
        if isinstance(recipe.extra, FrontLibraries):
            given = {new for names in recipe.extra.functions.values() for new in names.values()}
        else:
            [source] = recipe.own_sources()
            given = set(re.findall(r"^(?:DOT|DIVIDE)\((\w+),", source.read_text(), re.MULTILINE))
        assert given >= set(relinked_wheel.GFORTRAN.values())


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
    header = relinked_wheel.HEADER.pack(
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
    data = header + b"".join(relinked_wheel.SEGMENT.pack(*s) for s in segments) + first + JUNK
    data = (data.ljust(second_at, b"\0") + second + names).ljust(sections_at, b"\0")
    path.write_bytes(data + b"".join(relinked_wheel.SECTION.pack(*s) for s in sections))
    return {begin: first, 0x9000: second}


def test_debug_information_is_cut_out_and_all_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    loaded = elf(path)
    before = path.stat().st_size
    relinked_wheel.cut(path)
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
    relinked_wheel.cut(path)
    assert path.read_bytes() == once


def test_a_module_that_patchelf_has_rewritten_loads_when_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    made = importlib.import_module("zstandard.backend_c").__file__
    assert made
    shutil.copyfile(made, path)
    call([PATCHELF, "--force-rpath", "--set-rpath", "/a" * 500, path])
    relinked_wheel.cut(path)
    call([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(path)!r})"])


def test_what_a_recipe_leaves_out_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "scipy/linalg/tests").mkdir(parents=True)
    (tmp_path / "scipy/linalg/tests/test_it.py").touch()
    (tmp_path / "scipy/linalg/_simd.so").touch()
    relinked_wheel._leave_out(tmp_path, "scipy/**/tests")
    relinked_wheel._leave_out(tmp_path, "scipy/linalg/_simd.*")
    assert list((tmp_path / "scipy/linalg").iterdir()) == []
    with pytest.raises(IntegrityError, match=r"the wheel has no scipy/\*\*/tests"):
        relinked_wheel._leave_out(tmp_path, "scipy/**/tests")
