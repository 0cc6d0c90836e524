"""Timings of import and compilation; PyTensor's linkers; modules that are cut off."""

import json
import os
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.environments import add
from unit.helpers.verification import context
from verify.checks import compile_time
from verify.core import portable


def test_the_import_is_timed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[list[str], dict[str, str]]] = []

    def call(command: list[str], seconds: float, environment: dict[str, str]) -> Any:
        called.append((command, environment))
        return SimpleNamespace(status=0, timed_out=False, output="")

    monkeypatch.setattr(compile_time.process, "call", call)
    times = iter([0, 1, 1, 3] * 2)
    monkeypatch.setattr(portable, "monotonic", lambda: next(times))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "/elsewhere")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (timing,) = compile_time.imports(context())
    assert (timing.name, timing.unit, timing.samples) == ("import", "s", [1, 2])
    assert len(called) == 2 and called[0][0][1] == "-c"
    assert called[0][0][2].endswith("; import theano")
    assert "PYTHONDONTWRITEBYTECODE" not in called[0][1]
    # The environment has its own, to which nothing is added.
    monkeypatch.delenv("PYTHONPYCACHEPREFIX")
    compile_time.imports(context())
    assert called[-1][1]["PYTHONDONTWRITEBYTECODE"] == "1"


SAME, CVM = "cvm and numba compute the same value; not installed: jax", "1.0000000005"
DIFFER, OTHER_LINKER = f"their values differ: cvm {CVM}, numba ", "[global]\nlinker = cvm"
BROKEN = "Traceback\nImportError: no LLVM"


@pytest.mark.parametrize(
    ("value", "count", "status", "detail", "fix"),
    [
        (CVM, 6, "pass", SAME, ""),
        # One unit in the last place, and on the other side of a rounding to nine digits.
        ("1.0000000005000002", 6, "pass", SAME, ""),
        ("1.0000000005005", 6, "pass", SAME, ""),
        ("1.000000000502", 6, "fail", DIFFER + "1.000000000502", OTHER_LINKER),
        ("1.00000006", 6, "fail", DIFFER + "1.00000006", OTHER_LINKER),
        ("NaN", 6, "fail", DIFFER + "nan", OTHER_LINKER),
        (BROKEN, 3, "fail", f"linker=numba fails: {BROKEN}", " numba"),
    ],
)
def test_the_values_of_linkers_may_differ_by_rounding_alone(
    value: str, count: int, status: str, detail: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(command: list[str], seconds: float, environment: dict[str, str]) -> Any:
        linker, printed = command[-1], BROKEN
        flags = f"floatX=float32,base_compiledir=/compiled/{linker}"
        assert environment["THEANO_FLAGS"] == flags
        if linker == "cvm" or value != BROKEN:
            number = json.loads(CVM if linker == "cvm" else value)
            figures = {"compile": 6.0, "step": [2e-5], "peak": 217e6, "value": number}
            printed = f"verify-result {json.dumps(figures)}"
        return SimpleNamespace(output=printed, timed_out=False, status=0)

    monkeypatch.setenv("THEANO_FLAGS", "floatX=float32")
    monkeypatch.setattr(compile_time, "is_installed", lambda module: module == "numba")
    monkeypatch.setattr(compile_time.process, "call", call)
    check, timings = compile_time.linkers(context(folder="/compiled", culprit=None))
    assert (check.status, check.detail, len(timings)) == (status, detail, count)
    assert (check.fix or "").endswith(fix)
    assert [(item.name, item.median, item.unit) for item in timings[:3]] == [
        ("model, cvm: compile and first call", 6.0, "s"),
        ("model, cvm: step", pytest.approx(20000), "ns"),
        ("model, cvm: peak memory", 217, "MB"),
    ]


# A header whose table of sections ends the file.
SIZE = 64 + 2 * 32
ELF = b"\x7fELF\x02".ljust(40, b"\0") + struct.pack("<Q", 64)
ELF = ELF.ljust(58, b"\0") + struct.pack("<HH", 32, 2)
WHOLE = ELF.ljust(SIZE, b"\0")


def module(folder: Path, name: str, content: bytes) -> Path:
    return add(folder / "compiledir_here" / name, "m1.so", content)


def test_a_module_that_is_cut_off_is_named_with_the_command_that_removes_it(tmp_path: Path) -> None:
    module(tmp_path, "whole", WHOLE)
    module(tmp_path, "cut off", WHOLE[:-1])
    module(tmp_path, "empty", b"")
    module(tmp_path, "text", b"no program" * 20)
    module(tmp_path, "tmp1", b"").with_name("key.pkl").touch()
    # A program links it now: it has no key yet.
    module(tmp_path, "tmp2", b"")
    check = compile_time.check_folder(context(user_flags=f"base_compiledir={tmp_path}"))
    assert check.status == "fail"
    assert check.detail.startswith(f"4 of 6 modules in {tmp_path} are cut off")
    folder = tmp_path / "compiledir_here"
    names = f"'{folder}/cut off' {folder}/empty {folder}/text {folder}/tmp1"
    assert check.fix.splitlines()[1] == f"rm -r -- {names}"
    flag = f"compiledir={tmp_path}/compiledir_here"
    assert compile_time.check_folder(context(user_flags=flag)).detail.startswith("4 of 6 modules")


def test_whole_modules_pass_and_so_does_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    check = compile_time.check_folder(context())
    detail = f"0 modules in {tmp_path}/.theano, all whole"
    assert (check.status, check.detail) == ("pass", detail)
    module(tmp_path / ".theano", "whole", WHOLE)
    assert compile_time.check_folder(context()).detail.startswith("1 modules")


def test_the_folder_that_a_file_names_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the environment's own file, but no folder whose name differs in each program."""
    (tmp_path / "etc/theano-stacks").mkdir(parents=True)
    file = tmp_path / "etc/theanorc"
    file.write_text(f"[global]\nbase_compiledir = {tmp_path}/var/compiledir\n")
    monkeypatch.setenv("THEANORC", str(file))
    module(tmp_path / "var/compiledir", "cut off", ELF)
    check = compile_time.check_folder(context())
    assert check.detail.startswith(f"1 of 1 modules in {tmp_path}/var/compiledir are cut off")
    file.write_text("[global]\nbase_compiledir = %(TMPDIR)s/th\n")
    check = compile_time.check_folder(context())
    detail = "its name, %(TMPDIR)s/th, is another one in each program"
    assert (check.status, check.detail) == ("skip", detail)


@pytest.mark.parametrize("there", ["", "base", "base/compiledir_here"])
def test_a_folder_that_no_program_can_use_fails(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / there).mkdir(parents=True, exist_ok=True)
    allowed: set[str] = set()
    monkeypatch.setattr(os, "access", lambda path, mode: path in allowed)
    flags = {"compiledir": "/suite/compiledir_here"}
    made = context(flags, user_flags=f"base_compiledir={tmp_path}/base")
    check = compile_time.check_folder(made)
    assert check.status == "fail"
    assert check.detail.startswith(f"{tmp_path / there} may not be written: each program ends")
    allowed.add(str(tmp_path / there))
    assert compile_time.check_folder(made).status == "pass"


@pytest.mark.parametrize("name", ["file", "link"])
def test_what_is_no_folder_is_to_be_removed(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    check = compile_time.check_folder(context(user_flags=f"base_compiledir={tmp_path}/{name}/base"))
    assert check.detail == f"{tmp_path}/{name} is no folder: each program ends at the import"
    assert str(check.fix).startswith("remove it, or choose another folder")


def test_a_full_disk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = SimpleNamespace(f_blocks=256, f_bavail=0, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    flags = {"compiledir": "/suite/compiledir_here"}
    check = compile_time.check_folder(context(flags, user_flags=f"base_compiledir={tmp_path}"))
    assert check.detail == f"{tmp_path} is on a full disk: no program can compile"
    assert str(check.fix).startswith("free some space, or choose another folder")
