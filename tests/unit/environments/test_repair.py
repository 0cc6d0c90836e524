from __future__ import annotations

from pathlib import Path

import pytest

from stacks.environments import repair


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
    assert (aside / "lib/a.2").read_text() == "another edit"


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
