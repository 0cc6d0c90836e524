from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import zstandard

from stacks.channel.staging.texts import Texts

EXTRA = {
    "stage": "texts",
    "files": {"etc/a": "x = /place/b\n", "site-packages/é.py": "naïve = 1\n"},
    "placeholder": "/place",
}
PATHS = {"paths": [{"_path": "etc/a"}, {"_path": "site-packages/é.py"}], "paths_version": 1}


def test_a_placeholder_is_declared_and_all_else_stays(tmp_path: Path) -> None:
    info = {"info/index.json": b"{}", "info/paths.json": json.dumps(PATHS).encode()}
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as new:
        for name, data in info.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(data), 7, 0o640
            new.addfile(member, io.BytesIO(data))
    path = tmp_path / "a.conda"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("metadata.json", (2024, 1, 1, 0, 0, 0)), b"{}")
        archive.writestr("pkg-a.tar.zst", b"the files")
        archive.writestr("info-a.tar.zst", zstandard.compress(tar.getvalue()))
    before = zipfile.ZipFile(path).infolist()
    Texts.model_validate_json(json.dumps(EXTRA)).complete(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.read("pkg-a.tar.zst") == b"the files"
        after = archive.infolist()
        assert [(i.filename, i.date_time) for i in after] == [
            (i.filename, i.date_time) for i in before
        ]
        assert {i.compress_type for i in after} == {zipfile.ZIP_STORED}
        data = zstandard.ZstdDecompressor().decompressobj().decompress(archive.read(after[2]))
    with tarfile.open(fileobj=io.BytesIO(data)) as found:
        members = found.getmembers()
        file = found.extractfile("info/paths.json")
        assert file
        one, other = json.load(file)["paths"]
    assert [(m.name, m.mtime, m.mode) for m in members] == [(name, 7, 0o640) for name in info]
    assert one == {"_path": "etc/a", "prefix_placeholder": "/place", "file_mode": "text"}
    assert other == {"_path": "site-packages/é.py"}
