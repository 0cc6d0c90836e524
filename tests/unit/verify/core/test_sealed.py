"""Files whose first line has the SHA-256 of the rest, such as the record of what was compared."""

import importlib
import os
from pathlib import Path

import pytest

sealed = importlib.import_module("verify.core.sealed")


def test_a_sealed_file_has_its_content_and_a_digest(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(sealed.text({"b\u00e9": [1, "two"]}))
    digest, content = sealed.read(str(path))
    assert content == {"b\u00e9": [1, "two"]}
    assert digest in path.read_text().splitlines()[0]


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path, whole = tmp_path / "file.json", sealed.text({"a": 1})
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1
        path.write_bytes(changed)
        with pytest.raises(sealed.SealError, match="is damaged"):
            sealed.read(str(path))


@pytest.mark.parametrize("content", [b"", b"\n", b"{}", b"[]\n{}", b"\xff\n\xff", b"[" * 100000])
def test_what_is_not_a_sealed_file_is_damaged(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(sealed.SealError, match="is damaged"):
        sealed.read(str(tmp_path / "file.json"))


def test_a_pipe_in_its_place_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file.json")
    with pytest.raises(sealed.SealError, match="is not a regular file"):
        sealed.read(str(tmp_path / "file.json"))
    with pytest.raises(sealed.SealError, match="is missing"):
        sealed.read(str(tmp_path / "none/file.json"))


@pytest.fixture
def prefix(tmp_path: Path) -> bytes:
    (tmp_path / "var").mkdir()
    return os.fsencode(tmp_path)


def test_a_record_is_that_of_one_manifest(prefix: bytes, tmp_path: Path) -> None:
    sealed.store_record(prefix, "00", {b"lib/a": "1 2"})
    assert sealed.load_record(prefix, "00") == {b"lib/a": "1 2"}
    assert sealed.load_record(prefix, "01") == {}
    assert [path.name for path in (tmp_path / "var").iterdir()] == ["checked.json"]


def test_a_damaged_record_is_empty(prefix: bytes, tmp_path: Path) -> None:
    sealed.store_record(prefix, "00", {b"lib/a": "1 2"})
    path = tmp_path / "var/checked.json"
    path.write_bytes(path.read_bytes().replace(b"1 2", b"1 3"))
    assert sealed.load_record(prefix, "00") == {}
    path.unlink()
    os.mkfifo(path)
    assert sealed.load_record(prefix, "00") == {}


def test_no_record_is_written_outside_the_environment(prefix: bytes, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "var").rmdir()
    sealed.store_record(prefix, "00", {})
    (tmp_path / "var").symlink_to("outside")
    sealed.store_record(prefix, "00", {})
    assert not list((tmp_path / "outside").iterdir())


def test_a_link_in_place_of_the_new_record_is_not_followed(prefix: bytes, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("kept")
    (tmp_path / "var/checked.json.part").symlink_to(tmp_path / "outside")
    sealed.store_record(prefix, "00", {})
    assert (tmp_path / "outside").read_text() == "kept"


def test_the_key_of_a_file_changes_with_its_inode_size_and_times(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    keys = [sealed.file_key(path.lstat())]
    path.write_text("longer")
    keys.append(sealed.file_key(path.lstat()))
    os.utime(path, (1, 1))
    keys.append(sealed.file_key(path.lstat()))
    assert len(set(keys)) == 3
    assert len(keys[-1].split()) == 4 and " 6 1.000000 " in keys[-1]


@pytest.mark.parametrize(
    "content",
    [[], {}, {"manifest": "00"}, {"manifest": "00", "files": []},
     {"manifest": "00", "files": {"\ud800": "1"}}, {"manifest": "00", "files": {"a": {}}}],
)  # fmt: skip
def test_a_record_of_another_form_is_empty(content: object, prefix: bytes, tmp_path: Path) -> None:
    (tmp_path / "var/checked.json").write_bytes(sealed.text(content))
    assert sealed.load_record(prefix, "00") == {}
