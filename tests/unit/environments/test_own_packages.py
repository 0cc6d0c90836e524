from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.environments import own_packages, pip_install
from stacks.locks.lock import Lock
from stacks.sources.pins import IndexPin

PLACE = "lib/python3.9/site-packages"


def pin(name: str, filename: str) -> IndexPin:
    return IndexPin(name=name, version="1.0", filename=filename, size=1, sha256="0" * 64)


def wheel(folder: Path, *names: str) -> Path:
    path = folder / "a-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("numpy/core.py", f"{PLACE}/numpy/core.py"),
        ("a-1.0.data/purelib/numpy/core.py", f"{PLACE}/numpy/core.py"),
        ("a-1.0.data/scripts/g++", "bin/g++"),
        ("a-1.0.data/data/etc/theanorc", "etc/theanorc"),
    ],
)
def test_a_file_of_another_package_is_not_replaced(name: str, path: str, tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("locked")
    a = pin("a", "a-1.0-py3-none-any.whl")
    with pytest.raises(
        IntegrityError, match=rf"a 1\.0 is refused: it would replace {path}".replace("+", r"\+")
    ):
        own_packages.check_files(a, wheel(tmp_path, "a.py", name), tmp_path, "3.9")
    (tmp_path / path).unlink()
    own_packages.check_files(a, wheel(tmp_path, "a.py", name), tmp_path, "3.9")


@pytest.mark.parametrize("name", ["../a.py", "/etc/a", "a/../../b"])
def test_a_wheel_that_leaves_its_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="outside of its folder"):
        own_packages.check_files(pin("a", "a.whl"), wheel(tmp_path, name), tmp_path, "3.9")


def test_a_file_that_is_no_wheel(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_text("no")
    with pytest.raises(IntegrityError, match=r"a\.whl is no wheel"):
        own_packages.check_files(pin("a", "a.whl"), tmp_path / "a.whl", tmp_path, "3.9")


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the names of what is compiled and installed, without a pip."""
    done: list[str] = []

    def call(words: list[Any], **options: Any) -> str:
        folder = Path(words[words.index("--wheel-dir") + 1])
        folder.mkdir()
        wheel(folder, "a.py")
        done.append(f"compile {Path(words[-1]).name}")
        return ""

    def install(prefix: Path, files: dict[IndexPin, Path]) -> None:
        for each, path in files.items():
            assert path.is_file()
            done.append(f"install {each.filename}")

    archive = tmp_path / "archive"
    archive.write_text("sdist")
    monkeypatch.setattr(own_packages, "call", call)
    monkeypatch.setattr(own_packages, "fetch", lambda _, pins: dict.fromkeys(pins, archive))
    monkeypatch.setattr(pip_install, "install", install)
    return done


def lock_of(*pins: IndexPin) -> Lock:
    return Lock((), pins, "", "", "", own=len(pins))


def test_a_source_archive_is_compiled_once(
    compiled: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, lock = Workspace(tmp_path, tmp_path / "cache"), lock_of(pin("a", "a-1.0.tar.gz"))
    for _ in range(2):
        own_packages.add(workspace, tmp_path / "prefix", lock, "3.9")
    installed = "install a-1.0-py3-none-any.whl"
    assert compiled == ["compile a-1.0.tar.gz", installed, installed]
    assert capsys.readouterr().err.count("compile  a 1.0, once") == 1
    [record] = (tmp_path / "cache/wheels").glob("*/wheel.json")
    built = record.with_name("a-1.0-py3-none-any.whl").read_bytes()
    assert json.loads(record.read_text())["sha256"] == hashlib.sha256(built).hexdigest()


def test_a_damaged_wheel_is_compiled_again(compiled: list[str], tmp_path: Path) -> None:
    workspace, lock = Workspace(tmp_path, tmp_path / "cache"), lock_of(pin("a", "a-1.0.tar.gz"))
    own_packages.add(workspace, tmp_path / "prefix", lock, "3.9")
    [built] = (tmp_path / "cache/wheels").glob("*/*.whl")
    built.write_bytes(built.read_bytes() + b"x")
    own_packages.add(workspace, tmp_path / "prefix", lock, "3.9")
    assert compiled.count("compile a-1.0.tar.gz") == 2


def test_a_failed_compilation_leaves_nothing(
    compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **options: Any) -> str:
        raise CommandError("pip wheel\nNo module named hatchling")

    monkeypatch.setattr(own_packages, "call", fail)
    workspace, lock = Workspace(tmp_path, tmp_path / "cache"), lock_of(pin("a", "a-1.0.tar.gz"))
    with pytest.raises(UsageError, match=r"cannot be compiled(.|\n)*No module named hatchling"):
        own_packages.add(workspace, tmp_path / "prefix", lock, "3.9")
    assert not list((tmp_path / "cache/wheels").glob("[!.]*"))
