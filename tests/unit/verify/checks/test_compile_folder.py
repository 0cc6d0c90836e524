"""Modules in the compile folder that are cut off."""

import importlib
import os
import struct
from pathlib import Path

import pytest

from unit.helpers.verification import context

compile_folder = importlib.import_module("verify.checks.compile_time")
# A header whose table of sections ends the file.
SIZE = 64 + 2 * 32
ELF = b"\x7fELF\x02".ljust(40, b"\0") + struct.pack("<Q", 64)
ELF = ELF.ljust(58, b"\0") + struct.pack("<HH", 32, 2)


def module(folder: Path, name: str, content: bytes) -> Path:
    path = folder / "compiledir_here" / name / "m1.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_a_module_that_is_cut_off_is_named_with_the_command_that_removes_it(tmp_path: Path) -> None:
    module(tmp_path, "whole", ELF.ljust(SIZE, b"\0"))
    module(tmp_path, "cut off", ELF.ljust(SIZE - 1, b"\0"))
    module(tmp_path, "empty", b"")
    module(tmp_path, "text", b"no program" * 20)
    check = compile_folder.check_folder(context(user_flags=f"base_compiledir={tmp_path}"))
    assert check.status == "fail"
    assert check.detail.startswith(f"3 of 4 modules in {tmp_path} are cut off")
    folder = tmp_path / "compiledir_here"
    assert check.fix.splitlines()[1] == (
        f"rm -r -- '{folder}/cut off' {folder}/empty {folder}/text"
    )


def test_whole_modules_pass_and_so_does_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    check = compile_folder.check_folder(context())
    assert (check.status, check.detail) == (
        "pass", f"0 modules in {tmp_path}/.theano, all whole"
    )  # fmt: skip
    module(tmp_path / ".theano", "whole", ELF.ljust(SIZE, b"\0"))
    assert compile_folder.check_folder(context()).detail.startswith("1 modules")


def test_the_folder_that_the_environment_s_own_file_names_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc/theano-stacks").mkdir(parents=True)
    file = tmp_path / "etc/theanorc"
    file.write_text(f"[global]\nbase_compiledir = {tmp_path}/var/compiledir\n")
    monkeypatch.setenv("THEANORC", str(file))
    module(tmp_path / "var/compiledir", "cut off", ELF)
    check = compile_folder.check_folder(context())
    assert check.detail.startswith(f"1 of 1 modules in {tmp_path}/var/compiledir are cut off")


def test_an_image_s_folder_and_one_that_is_named_whole_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "base/compiledir/tmp1/m1.so"
    path.parent.mkdir(parents=True)
    path.touch()
    (path.parent / "key.pkl").touch()
    for flag in (f"base_compiledir={tmp_path}/base", f"compiledir={tmp_path}/base/compiledir"):
        assert compile_folder.check_folder(context(user_flags=flag)).status == "fail"


def test_a_module_that_a_program_links_now_is_none_yet(tmp_path: Path) -> None:
    module(tmp_path, "tmp1", b"").with_name("key.pkl").touch()
    module(tmp_path, "tmp2", b"")
    check = compile_folder.check_folder(context(user_flags=f"base_compiledir={tmp_path}"))
    assert check.detail.startswith(f"1 of 2 modules in {tmp_path} are cut off")
    assert "tmp2" not in check.fix


@pytest.mark.parametrize("there", ["", "base", "base/compiledir_here"])
def test_a_folder_that_no_program_can_use_fails(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / there).mkdir(parents=True, exist_ok=True)
    allowed: set[str] = set()
    monkeypatch.setattr(os, "access", lambda path, mode: path in allowed)
    made = context(user_flags=f"base_compiledir={tmp_path}/base")
    made.framework.flag = {"compiledir": "/suite/compiledir_here"}.get
    check = compile_folder.check_folder(made)
    assert check.status == "fail"
    assert check.detail.startswith(f"{tmp_path / there} may not be written: each program ends")
    allowed.add(str(tmp_path / there))
    assert compile_folder.check_folder(made).status == "pass"


def test_a_folder_that_each_program_names_differently_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "rc").write_text("[global]\nbase_compiledir = %(TMPDIR)s/th\n")
    monkeypatch.setenv("THEANORC", str(file))
    found = compile_folder.check_folder(context())
    assert (found.status, found.detail) == (
        "skip", "its name, %(TMPDIR)s/th, is another one in each program"
    )  # fmt: skip


def test_the_modules_of_this_python_are_whole() -> None:
    library = Path(importlib.import_module("math").__file__ or os.__file__)
    if library.suffix == ".so":
        assert compile_folder.is_whole(str(library))
