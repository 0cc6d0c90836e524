"""Staging of the packages that a GPU variant needs: what they take, and what they refuse."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stacks.channel.staging import debian_files, pocl, wheel_libraries
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.staging import work


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


POCL = {"stage": "pocl", "gcc": "10"}
DATA = "pocl_binary_distribution/.libs/share/pocl"


def test_pocl_brings_its_name_and_a_linker_on_the_compilers_sysroot(tmp_path: Path) -> None:
    files = {"pyopencl/.libs/libpocl-1.so": "", f"{DATA}/licenses/POCL.COPYING": "MIT"}
    made = work(tmp_path, POCL, files)
    pocl.stage(made)
    assert (made.root / "etc/OpenCL/vendors/pocl.icd").read_text() == "libpocl-1.so\n"
    assert (made.root / "lib/pocl/pyopencl/.libs/libpocl-1.so").stat().st_mode & 0o111
    assert (made.root / "share/licenses/a/POCL.COPYING").is_file()
    linker = made.root / "bin/x86_64-unknown-linux-gnu-ld"
    assert linker.stat().st_mode & 0o111
    assert '--sysroot="$sysroot"' in linker.read_text()
    assert "gcc/x86_64-linux-gnu/10" in linker.read_text()


def test_a_wheel_of_pocl_that_is_laid_out_otherwise(tmp_path: Path) -> None:
    made = work(tmp_path, POCL, {"pyopencl/.libs/libpocl-1.so": ""})
    with pytest.raises(IntegrityError, match="not laid out as the recipe knows it"):
        pocl.stage(made)


def test_only_the_libraries_of_nvidias_wheel_are_taken(tmp_path: Path) -> None:
    extra = {
        "stage": "wheel-libraries",
        "libraries": ["libb.so.1"],
        "links": {"libb.so": "libb.so.1"},
    }
    files = {
        "nvidia/b/lib/libb.so.1": "b",
        "nvidia/b/include/b.h": "",
        "b.dist-info/License.txt": "",
    }
    made = work(tmp_path, extra, files)
    wheel_libraries.stage(made)
    assert tree(made.root) == ["lib/libb.so", "lib/libb.so.1", "share/licenses/a/License.txt"]


def test_a_library_that_nvidias_wheel_has_not(tmp_path: Path) -> None:
    made = work(tmp_path, {"stage": "wheel-libraries", "libraries": ["libc.so.1"]}, {"x": ""})
    with pytest.raises(UsageError, match=r"no library libc\.so\.1"):
        wheel_libraries.stage(made)


def test_folders_are_copied_without_what_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("pygpu/a.py", "pygpu/a.c", "pygpu/tests/t.py"):
        (source / "usr" / name).parent.mkdir(parents=True, exist_ok=True)
        (source / "usr" / name).write_text("")
    ignored = shutil.ignore_patterns("tests", "*.c")
    debian_files._copy(source, "usr/pygpu*", tmp_path / "site", ignored)
    assert tree(tmp_path / "site") == ["pygpu/a.py"]
    with pytest.raises(UsageError, match="no usr/other in the recipe's debs"):
        debian_files._copy(source, "usr/other", tmp_path / "site", ignored)
