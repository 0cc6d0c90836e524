from __future__ import annotations

import os
from pathlib import Path

import pytest

from stacks.environments.make import manifest, repair


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    folder = tmp_path / "sound"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib/a").write_text("sound")
    (folder / "lib/link").symlink_to("a")
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "environment").mkdir()
    return tmp_path / "environment"


def put_back(sound: Path, target: Path, name: str) -> Path:
    aside = repair.folder_of_replaced(target)
    repair._put_back(sound, target, name, aside)
    return aside


def test_a_missing_file_is_put_back(sound: Path, target: Path) -> None:
    aside = put_back(sound, target, "lib/a")
    assert (target / "lib/a").read_text() == "sound"
    assert not aside.exists()


def test_a_changed_file_is_kept_aside(sound: Path, target: Path) -> None:
    (target / "lib").mkdir()
    (target / "lib/a").write_text("an edit")
    aside = put_back(sound, target, "lib/a")
    assert (target / "lib/a").read_text() == "sound"
    assert (aside / "lib/a").read_text() == "an edit"
    (sound / "lib/a").write_text("sound")
    (target / "lib/a").write_text("another edit")
    put_back(sound, target, "lib/a")
    assert (aside / "lib/a").read_text() == "an edit"
    assert (aside / "2/lib/a").read_text() == "another edit"


def test_a_folder_in_a_files_place(sound: Path, target: Path) -> None:
    (target / "lib/link/deep").mkdir(parents=True)
    (target / "lib/link/deep/mine").touch()
    aside = put_back(sound, target, "lib/link")
    assert (target / "lib/link").readlink() == Path("a")
    assert (aside / "lib/link/deep/mine").is_file()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_something_else_in_a_folders_place(
    kind: str, sound: Path, target: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    if kind == "link":
        (target / "lib").symlink_to(outside)
    else:
        (target / "lib").touch()
    aside = put_back(sound, target, "lib/a")
    assert (target / "lib/a").read_text() == "sound"
    assert not (target / "lib").is_symlink()
    assert (aside / "lib").is_symlink() == (kind == "link")
    assert list(outside.iterdir()) == []


def test_what_python_has_compiled_of_a_replaced_module_is_removed(
    sound: Path, target: Path
) -> None:
    for folder in (sound, target):
        (folder / "lib/__pycache__").mkdir(parents=True, exist_ok=True)
        (folder / "lib/mod.py").write_text(folder.name)
    names = ("mod.pyc", "mod.pyo", "__pycache__/mod.cpython-39.opt-1.pyc")
    others = ("mod_2.pyc", "__pycache__/mod_2.cpython-39.pyc")
    for name in (*names, *others):
        (target / "lib" / name).touch()
    put_back(sound, target, "lib/mod.py")
    assert not any((target / "lib" / name).exists() for name in names)
    assert all((target / "lib" / name).exists() for name in others)


def test_what_an_earlier_repair_moved_away_is_neither_followed_nor_in_the_way(
    sound: Path, target: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    aside = repair.folder_of_replaced(target)
    aside.mkdir()
    (aside / "lib").symlink_to(tmp_path / "outside")
    (aside / "2").mkdir()
    (aside / "2/lib").touch()
    (target / "lib").mkdir(exist_ok=True)
    (target / "lib/a").write_text("old")
    put_back(sound, target, "lib/a")
    assert (aside / "3/lib/a").read_text() == "old"
    assert not any((tmp_path / "outside").iterdir())


@pytest.mark.parametrize("name", ["lib", "lib/a", "lib/link"])
def test_a_pipe_is_moved_away(name: str, sound: Path, target: Path) -> None:
    (target / name).parent.mkdir(exist_ok=True)
    os.mkfifo(target / name)
    aside = put_back(sound, target, "lib/link" if name == "lib/link" else "lib/a")
    assert (aside / name).is_fifo()
    assert (target / "lib").is_dir()


def test_folders_without_access_are_opened(target: Path, tmp_path: Path) -> None:
    (target / "lib/deep").mkdir(parents=True)
    (target / "var/mine").mkdir(parents=True)
    (tmp_path / "outside").mkdir(mode=0o500)
    (target / "link").symlink_to(tmp_path / "outside")
    for name, mode in (("lib/deep", 0), ("lib", 0o555), ("var/mine", 0o500)):
        (target / name).chmod(mode)
    repair._open_folders(target)
    modes = [
        f"{(target / n).stat().st_mode & 0o777:o}" for n in ("lib", "lib/deep", "var/mine", "link")
    ]
    assert modes == ["755", "700", "500", "500"]


def test_a_folder_in_place_of_the_manifest_is_moved_away(sound: Path, target: Path) -> None:
    for folder in (sound, target):
        (folder / manifest.NAME).parent.mkdir(parents=True)
    (sound / manifest.NAME).write_text("sound")
    (target / manifest.NAME).mkdir()
    repair._put_manifest(sound, target, repair.folder_of_replaced(target))
    assert (target / manifest.NAME).read_text() == "sound"


def test_replaced_files_stay_on_the_file_system_of_a_linked_environment(tmp_path: Path) -> None:
    (tmp_path / "disk/environment").mkdir(parents=True)
    (tmp_path / "link").symlink_to("disk/environment")
    assert repair.folder_of_replaced(tmp_path / "link") == tmp_path / "disk/environment.replaced"
