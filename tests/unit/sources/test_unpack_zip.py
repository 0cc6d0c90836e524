"""Zip archives: what is unpacked, and what is refused; absolute links that are made relative."""

import stat
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.sources.unpack import leading_out, make_relative, unpack_zip
from unit.helpers.archives import zip_of


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_zip_archive_is_unpacked(tmp_path: Path) -> None:
    archive = zip_of(
        tmp_path / "a.zip", ("d/", b"", 0o755), ("d/tool", b"tool", 0o750), ("e/f", b"", 0)
    )
    unpack_zip(archive, tmp_path / "out")
    assert names(tmp_path / "out") == ["d", "d/tool", "e", "e/f"]
    assert (tmp_path / "out/d/tool").read_bytes() == b"tool"
    assert (tmp_path / "out/d/tool").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "out/e/f").stat().st_mode & 0o7777 == 0o644
    unpack_zip(archive, tmp_path / "placed", {"d/tool": "x/y"}.get)
    assert names(tmp_path / "placed") == ["x", "x/y"]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (["../evil"], "outside of"),
        (["a/../../evil"], "outside of"),
        (["/evil"], "outside of"),
        (["a\nb"], "not printable"),
        (["a", "a"], "two files"),
        (["a", "./a"], "two files"),
        (["a", "a/b"], "a file is in the place of a folder"),
        (["a/b", "a"], "a folder has the same path"),
        (["a", "a/"], "a file is in the place of a folder"),
        (["link/evil"], "a link is in the place of a folder"),
        (["file"], "two files"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_unsafe_members_of_a_zip_archive_are_refused(
    members: list[str], reason: str, tmp_path: Path
) -> None:
    out = tmp_path / "deep/er/out"
    out.mkdir(parents=True)
    (out / "link").symlink_to("..")
    (out / "file").write_bytes(b"mine")
    archive = zip_of(tmp_path / "a.zip", *[(name, b"", 0o644) for name in members])
    with pytest.raises(IntegrityError, match=rf"(?s)a\.zip: .*{reason}.*fix"):
        unpack_zip(archive, out)
    assert not list(tmp_path.rglob("evil"))
    assert (out / "file").read_bytes() == b"mine"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_of_a_zip_archive_are_refused(kind: int, tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "a.zip", ("a", b"/etc", kind | 0o777))
    with pytest.raises(IntegrityError, match=r"a\.zip: .*a: neither file nor folder"):
        unpack_zip(archive, tmp_path / "out")


def test_a_broken_zip_archive_is_refused(tmp_path: Path) -> None:
    plain = zip_of(tmp_path / "a.zip", ("name", b"content", 0o644)).read_bytes()
    local, central = plain.index(b"PK\3\4"), plain.index(b"PK\1\2")

    def changed(in_local: int, in_central: int, value: bytes) -> bytes:
        data = bytearray(plain)
        for start in (local + in_local, central + in_central):
            data[start : start + 2] = value
        return bytes(data)

    faults = {
        "CRC": plain.replace(b"content", b"CONTENT"),
        "encrypted": changed(6, 8, b"\1\0"),
        "unknown compression": changed(8, 10, b"\x63\0"),
        "compression unlike the data": changed(8, 10, b"\x08\0"),
        "not UTF-8": changed(6, 8, b"\0\x08").replace(b"name", b"na\xe9e"),
        "NUL": plain.replace(b"name", b"na\0e"),
        "truncated": plain[:-10],
        "no directory": plain[:central],
        "negative offset": plain[10:],
        "wrong local name": plain.replace(b"name", b"evil", 1),
        "empty": b"",
        "garbage": b"PK\3\4" + bytes(range(256)) * 9,
    }
    for fault, data in faults.items():
        (tmp_path / "a.zip").write_bytes(data)
        with pytest.raises(IntegrityError, match=r"(?s)a\.zip: cannot be unpacked safely.*fix"):
            unpack_zip(tmp_path / "a.zip", tmp_path / fault)


def test_absolute_links_become_relative(tmp_path: Path) -> None:
    """Without a look at `down`, /down/../../x would be above the root."""
    links = {"usr/a": "/usr/lib/file", "usr/lib/b": "/gone", "c": "usr", "down": "usr/lib/deep",
             "d": "/down/../../lib/file", "usr/lib/root": "/"}  # fmt: skip
    (tmp_path / "usr/lib/deep").mkdir(parents=True)
    (tmp_path / "usr/lib/file").touch()
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    assert leading_out(tmp_path, absolute=True) == []
    make_relative(tmp_path)
    assert leading_out(tmp_path) == []
    targets = [str((tmp_path / name).readlink()) for name in ("usr/a", "usr/lib/b", "c")]
    assert targets == ["../usr/lib/file", "../../gone", "usr"]
    assert (tmp_path / "d").samefile(tmp_path / "usr/lib/file")
    assert (tmp_path / "usr/lib/root").samefile(tmp_path)
