from __future__ import annotations

from pathlib import Path

from stacks.channel.staging.tree import copy_tree, remove, remove_broken_links
from unit.helpers.staging import tree


def test_a_folder_is_copied_with_its_links_and_without_what_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "a/tests").mkdir(parents=True)
    (source / "a/tests/test.py").touch()
    (source / "a/tool").write_text("tool")
    (source / "a/tool").chmod(0o755)
    (source / "a/up").symlink_to("..")
    (source / "a/x.c").touch()
    (source / "dangling").symlink_to("gone")
    copy_tree(source, tmp_path / "new/target", ["tests", "*.c"])
    assert tree(tmp_path / "new/target") == ["a/tool", "dangling"]
    assert (tmp_path / "new/target/a/up").readlink() == Path("..")
    assert (tmp_path / "new/target/a/tool").stat().st_mode & 0o777 == 0o755


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").touch()
    (folder / "link").symlink_to("../outside")
    for name in ("link", "file", "missing"):
        remove(folder / name)
    assert list(folder.iterdir()) == []
    (folder / "link").symlink_to("../outside")
    remove(folder)
    assert tree(tmp_path) == ["outside/file"]


def test_broken_links_are_removed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "broken").symlink_to("gone")
    remove_broken_links(tmp_path)
    assert tree(tmp_path) == ["file", "link"]
