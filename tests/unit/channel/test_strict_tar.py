from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from stacks.channel.strict_tar import UnsafeError, members_of
from unit.helpers.archives import member, tar
from unit.helpers.conda import conda, file, write_conda


def test_the_members_of_both_sections(tmp_path: Path) -> None:
    path = conda(tmp_path, file("lib/a", b"a"), file("lib/b", b"b"))
    bodies = {}
    for archive, each in members_of(path):
        content = archive.extractfile(each)
        bodies[each.name] = content.read() if content else None
    assert set(bodies) == {"info/index.json", "info/paths.json", "lib/a", "lib/b"}
    assert (bodies["lib/a"], bodies["lib/b"]) == (b"a", b"b")


def refused(path: Path, message: str) -> None:
    with pytest.raises(UnsafeError, match=message):
        list(members_of(path))


def test_data_that_only_some_readers_see_is_refused(tmp_path: Path) -> None:
    broken = bytearray(member("zz").tobuf(tarfile.GNU_FORMAT))
    broken[124] = 0x81
    for rest in (bytes(broken), bytes(1024) + tar(file("lib/b"))):
        path = conda(tmp_path, file("lib/a"))
        with zipfile.ZipFile(path) as archive:
            packed = archive.read("info-odd-1-0.tar.zst")
        info = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        write_conda(
            path, {"info": info, "pkg": tar(file("lib/a")).rstrip(b"\0") + bytes(507) + rest}
        )
        refused(path, "a tar header is broken|data follow the end")


@pytest.mark.parametrize("kind", [tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_SPARSE])
def test_members_that_readers_treat_differently_are_refused(kind: bytes, tmp_path: Path) -> None:
    members = [(member("odd", kind), b"14 path=lib/b\n"), file("lib/c")]
    refused(conda(tmp_path, file("lib/a"), *members, paths=[]), "a header of the kind ")


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_name_that_would_fill_the_memory_is_refused(kind: bytes, tmp_path: Path) -> None:
    members = [(member("odd", kind), bytes(2 << 20)), file("lib/c")]
    refused(conda(tmp_path, *members, paths=[]), "a name or header of 2097152 bytes")


def test_a_file_with_holes_is_refused(tmp_path: Path) -> None:
    records = b"".join(
        b"%d %s\n" % (len(text) + 4, text)
        for text in (
            b"GNU.sparse.major=1",
            b"GNU.sparse.minor=0",
            b"GNU.sparse.name=lib/b",
            b"GNU.sparse.realsize=4",
        )
    )
    body = b"1\n0\n4\n".ljust(512, b"\0") + b"body"
    members = [(member("odd", tarfile.XHDTYPE), records), file("lib/c", body)]
    refused(conda(tmp_path, *members, paths=[]), "'lib/b' has holes")
