from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from stacks.channel.recipe import Recipe
from stacks.channel.staging import compiler, cpython
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.debian import MULTIARCH, copy_libraries, copy_licences
from stacks.channel.staging.elf import elf_files, is_dynamic, is_elf, set_rpath
from stacks.channel.staging.replace_text import replace_once
from stacks.core.errors import IntegrityError, UsageError

RECIPE = {
    "package": {"name": "libs", "version": "1"},
    "source": [{"suite": "bullseye", "debs": ["liba", "libb"]}],
    "about": {"license": "MIT", "summary": "libraries"},
    "extra": {"stage": "libraries", "libraries": ["liba.so*"]},
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source/usr/lib" / MULTIARCH
    folder.mkdir(parents=True)
    (folder / "liba.so.1.2").write_text("a")
    (folder / "liba.so.1").symlink_to("liba.so.1.2")
    other = tmp_path / "source/lib" / MULTIARCH
    other.mkdir(parents=True)
    (other / "libb.so.2").write_text("b")
    return tmp_path / "source"


def test_libraries_come_with_their_links(source: Path, tmp_path: Path) -> None:
    copy_libraries(source, tmp_path / "lib", ["liba.so.1*", "libb.so.*"])
    assert sorted(p.name for p in (tmp_path / "lib").iterdir()) == [
        "liba.so.1",
        "liba.so.1.2",
        "libb.so.2",
    ]
    assert (tmp_path / "lib/liba.so.1").is_symlink()


def test_a_library_that_no_deb_has(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)no library libc.so.\*.*correct"):
        copy_libraries(source, tmp_path / "lib", ["libc.so.*"])


def test_licences_are_kept(source: Path, tmp_path: Path) -> None:
    (source / "usr/share/doc/liba").mkdir(parents=True)
    (source / "usr/share/doc/liba/copyright").write_text("MIT")
    recipe = Recipe.model_validate_json(json.dumps(RECIPE))
    copy_licences(source, Work(recipe, {}, tmp_path / "root", tmp_path / "scratch", tmp_path))
    [kept] = (tmp_path / "root/share/licenses/libs").iterdir()
    assert (kept.name, kept.read_text()) == ("liba.copyright", "MIT")


def test_elf_files_are_known_by_their_bytes(tmp_path: Path) -> None:
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
    set_rpath([program], tmp_path / "lib")
    with program.open("rb") as file:
        elf = ELFFile(file)
        section = elf.get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        tags = [vars(tag) for tag in section.iter_tags()]
    assert [tag["rpath"] for tag in tags if "rpath" in tag] == ["$ORIGIN/../lib"]
    assert not [tag for tag in tags if "runpath" in tag]


@pytest.mark.parametrize("text", ["", "other\n", "posix_local\nposix_local\n"])
def test_a_text_that_is_not_the_known_one(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sysconfig.py"
    path.write_text(text)
    with pytest.raises(IntegrityError) as caught:
        replace_once(path, "posix_local", "posix_prefix", "look")
    assert caught.value.found == f"{text.count('posix_local')} times"
    assert path.read_text() == text


def test_pythons_build_time_variables_name_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "build_time_vars = {'CC': 'x86_64-linux-gnu-gcc -pthread', 'prefix': '/usr',\n"
        " 'LIBDIR': '/usr/lib', 'LIBPL': '/usr/lib/python3.9/config-3.9-x86_64-linux-gnu',\n"
        " 'CFLAGS': '-g -ffile-prefix-map=/build/python-1=. -O2', 'N': 1,\n"
        " 'CONFIG_ARGS': '--prefix=/usr --x', 'OTHER': '/opt/usr/lib /usr/local'}\n"
    )
    monkeypatch.setattr(sys, "base_prefix", "/a b")
    found: dict[str, dict[str, object]] = {}
    exec(cpython._relocated(text), found)
    assert found["build_time_vars"] == {
        "CC": "gcc -pthread",
        "prefix": "/a b",
        "LIBDIR": "/a b/lib",
        "LIBPL": "/a b/lib/python3.9/config-3.9-x86_64-linux-gnu",
        "CFLAGS": "-g -O2",
        "N": 1,
        "CONFIG_ARGS": "--prefix=/a b --x",
        "OTHER": "/opt/usr/lib /usr/local",
    }


def test_links_of_a_sysroot_stay_inside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "usr/lib").mkdir(parents=True)
    (root / "usr/lib/real").touch()
    (root / "usr/lib/absolute").symlink_to("/usr/lib/real")
    (root / "usr/lib/dangling").symlink_to("left-out")
    compiler._keep_links_inside(root)
    assert str((root / "usr/lib/absolute").readlink()) == "real"
    assert not (root / "usr/lib/dangling").is_symlink()
    (tmp_path / "outside").touch()
    (root / "usr/lib/evil").symlink_to("../../../outside")
    with pytest.raises(IntegrityError, match="leads out of the sysroot"):
        compiler._keep_links_inside(root)
