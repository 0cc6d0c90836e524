"""Files whose first line has the SHA-256 of the rest."""

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
