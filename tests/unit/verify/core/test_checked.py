"""The record of the files that were compared before."""

import importlib
import os
from pathlib import Path

import pytest

checked = importlib.import_module("verify.core.sealed")
sealed = importlib.import_module("verify.core.sealed")


@pytest.fixture
def prefix(tmp_path: Path) -> bytes:
    (tmp_path / "var").mkdir()
    return os.fsencode(tmp_path)


def test_a_record_is_that_of_one_manifest(prefix: bytes, tmp_path: Path) -> None:
    checked.store_record(prefix, "00", {b"lib/a": "1 2"})
    assert checked.load_record(prefix, "00") == {b"lib/a": "1 2"}
    assert checked.load_record(prefix, "01") == {}
    assert [path.name for path in (tmp_path / "var").iterdir()] == ["checked.json"]


def test_a_damaged_record_is_empty(prefix: bytes, tmp_path: Path) -> None:
    checked.store_record(prefix, "00", {b"lib/a": "1 2"})
    path = tmp_path / "var/checked.json"
    path.write_bytes(path.read_bytes().replace(b"1 2", b"1 3"))
    assert checked.load_record(prefix, "00") == {}
    path.unlink()
    os.mkfifo(path)
    assert checked.load_record(prefix, "00") == {}


def test_no_record_is_written_outside_the_environment(prefix: bytes, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "var").rmdir()
    checked.store_record(prefix, "00", {})
    (tmp_path / "var").symlink_to("outside")
    checked.store_record(prefix, "00", {})
    assert not list((tmp_path / "outside").iterdir())


def test_a_link_in_place_of_the_new_record_is_not_followed(prefix: bytes, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("kept")
    (tmp_path / "var/checked.json.part").symlink_to(tmp_path / "outside")
    checked.store_record(prefix, "00", {})
    assert (tmp_path / "outside").read_text() == "kept"


def test_the_key_of_a_file_changes_with_its_inode_size_and_times(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    keys = [checked.file_key(path.lstat())]
    path.write_text("longer")
    keys.append(checked.file_key(path.lstat()))
    os.utime(path, (1, 1))
    keys.append(checked.file_key(path.lstat()))
    assert len(set(keys)) == 3
    assert len(keys[-1].split()) == 4 and " 6 1.000000 " in keys[-1]


@pytest.mark.parametrize(
    "content",
    [[], {}, {"manifest": "00"}, {"manifest": "00", "files": []},
     {"manifest": "00", "files": {"\ud800": "1"}}, {"manifest": "00", "files": {"a": {}}}],
)  # fmt: skip
def test_a_record_of_another_form_is_empty(content: object, prefix: bytes, tmp_path: Path) -> None:
    (tmp_path / "var/checked.json").write_bytes(sealed.text(content))
    assert checked.load_record(prefix, "00") == {}
