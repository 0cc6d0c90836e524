from __future__ import annotations

import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from stacks.core.errors import IntegrityError
from stacks.sources.unpack import read_control, unpack_deb, unpack_tar
from unit.helpers.archives import ar, deb, member, tar

FOLDER = member("./usr", tarfile.DIRTYPE, mode=0o755)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".xz", lzma.compress),
        (".gz", gzip.compress),
        (".zst", zstandard.ZstdCompressor().compress),
        ("", bytes),
    ],
)
def test_files_of_a_deb_are_unpacked(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    body = bytes(range(256)) * 9999
    archive = deb(
        tmp_path / "a.deb",
        (member("./", tarfile.DIRTYPE, mode=0o755), b""),
        (FOLDER, b""),
        (member("./usr/tool", mode=0o755), body),
        (member("./usr/same", tarfile.LNKTYPE, "./usr/tool"), b""),
        (member("./usr/link", tarfile.SYMTYPE, "tool"), b""),
        (member("./etc/without/folders"), b"x"),
        suffix=suffix,
        compress=compress,
    )
    unpack_deb(archive, tmp_path / "out")
    assert (tmp_path / "out/usr/tool").read_bytes() == body
    assert (tmp_path / "out/usr/tool").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "out/usr/same").samefile(tmp_path / "out/usr/tool")
    assert (tmp_path / "out/usr/link").readlink() == Path("tool")
    assert (tmp_path / "out/etc/without/folders").read_bytes() == b"x"


def test_special_bits_are_dropped(tmp_path: Path) -> None:
    archive = deb(
        tmp_path / "a.deb",
        (member("./d", tarfile.DIRTYPE, mode=0o3775), b""),
        (member("./d/su", mode=0o6755), b"x"),
    )
    unpack_deb(archive, tmp_path / "out")
    assert (tmp_path / "out/d").stat().st_mode & 0o7777 == 0o775
    assert (tmp_path / "out/d/su").stat().st_mode & 0o7777 == 0o755


def test_a_folder_without_write_permission_is_filled(tmp_path: Path) -> None:
    archive = deb(
        tmp_path / "a.deb",
        (member("./d", tarfile.DIRTYPE, mode=0o555), b""),
        (member("./d/file"), b"x"),
    )
    unpack_deb(archive, tmp_path / "out")
    assert (tmp_path / "out/d").stat().st_mode & 0o777 == 0o555
    (tmp_path / "out/d").chmod(0o755)


def test_absolute_links_are_written_unchanged(tmp_path: Path) -> None:
    archive = deb(tmp_path / "a.deb", (member("./link", tarfile.SYMTYPE, "/etc/passwd"), b""))
    unpack_deb(archive, tmp_path / "out")
    assert (tmp_path / "out/link").readlink() == Path("/etc/passwd")


def test_two_debs_are_unpacked_into_one_folder(tmp_path: Path) -> None:
    unpack_deb(deb(tmp_path / "a.deb", (FOLDER, b""), (member("./usr/a"), b"1")), tmp_path / "out")
    unpack_deb(deb(tmp_path / "b.deb", (FOLDER, b""), (member("./usr/a"), b"2")), tmp_path / "out")
    assert (tmp_path / "out/usr/a").read_bytes() == b"2"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([member("../evil")], "outside of"),
        ([member("./usr/../../evil")], "outside of"),
        ([member("EVIL")], "outside of"),
        ([member("./l", tarfile.SYMTYPE, ".."), member("./l/evil")], "a link is in"),
        ([member("./l", tarfile.SYMTYPE, "OUTSIDE"), member("./l/evil")], "a link is in"),
        (
            [member("./l", tarfile.SYMTYPE, "OUTSIDE"), member("./l", tarfile.DIRTYPE)],
            "a link is in",
        ),
        ([member("./l", tarfile.SYMTYPE, "OUTSIDE"), member("./l/a/b/evil")], "a link is in"),
        ([member("./h", tarfile.LNKTYPE, "../secret")], "outside of"),
        ([member("./h", tarfile.LNKTYPE, "SECRET")], "outside of"),
        (
            [member("./l", tarfile.SYMTYPE, "SECRET"), member("./h", tarfile.LNKTYPE, "./l")],
            "no file",
        ),
        (
            [member("./l", tarfile.SYMTYPE, "OUTSIDE"), member("./h", tarfile.LNKTYPE, "l/secret")],
            "a link is in",
        ),
        ([member("./h", tarfile.LNKTYPE, "./nosuch")], "no file"),
        ([member("./dev", tarfile.CHRTYPE)], "neither file"),
        ([member("./dev", tarfile.BLKTYPE)], "neither file"),
        ([member("./fifo", tarfile.FIFOTYPE)], "neither file"),
        ([member("./d", tarfile.DIRTYPE), member("./d")], "a folder has"),
        ([member("./f"), member("./f/g")], "a file is in"),
    ],
)
def test_nothing_is_written_outside_of_the_folder(
    tmp_path: Path, members: list[tarfile.TarInfo], reason: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    for info in members:
        info.name = info.name.replace("EVIL", str(outside / "evil"))
        info.linkname = info.linkname.replace("OUTSIDE", str(outside))
        info.linkname = info.linkname.replace("SECRET", str(outside / "secret"))
    archive = deb(tmp_path / "a.deb", *[(info, b"") for info in members])
    with pytest.raises(IntegrityError, match=f"(?s)a\\.deb.*{reason}.*fix"):
        unpack_deb(archive, tmp_path / "out")
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"
    assert (outside / "secret").stat().st_nlink == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.deb", "out", "outside"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    link = member("./l", tarfile.SYMTYPE, str(tmp_path / "secret"))
    unpack_deb(deb(tmp_path / "a.deb", (link, b""), (member("./l"), b"new")), tmp_path / "out")
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert (tmp_path / "out/l").read_bytes() == b"new"


GOOD = tar((member("./a"), bytes(5000)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"PK\x03\x04 a zip",
        ar(("debian-binary", b"2.0\n")),
        ar(("data.tar.xz", lzma.compress(GOOD)))[:-20],
        ar(("data.tar.xz", b"not xz")),
        ar(("data.tar.gz", b"not gz")),
        ar(("data.tar.gz", gzip.compress(GOOD)[:-30])),
        ar(("data.tar.zst", b"not zst")),
        ar(("data.tar.zst", zstandard.compress(GOOD)[:-30])),
        ar(("data.tar.bz2", b"BZh")),
        ar(("data.tar", b"not tar" * 999)),
        ar(("data.tar", GOOD[:2000])),
        ar(("data.tar", GOOD))[:40],
        b"!<arch>\n" + b"x" * 60,
    ],
)
def test_a_broken_deb_is_refused(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "a.deb").write_bytes(body)
    with pytest.raises(IntegrityError, match=r"(?s)a\.deb: cannot be unpacked.*fix"):
        unpack_deb(tmp_path / "a.deb", tmp_path / "out")


def test_a_tar_archive_is_unpacked_inside_of_the_folder(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.tar.gz", tmp_path / "bad.tar.gz"
    for path, name in ((good, "Theano/PKG-INFO"), (bad, "../outside")):
        with tarfile.open(path, "w:gz") as archive:
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))
    unpack_tar(good, tmp_path / "to")
    assert (tmp_path / "to/Theano/PKG-INFO").read_bytes() == b"text"
    with pytest.raises(IntegrityError, match="outside of the folder"):
        unpack_tar(bad, tmp_path / "to")
    assert not (tmp_path / "outside of").exists()


@pytest.mark.parametrize("name", ["control", "./control"])
@pytest.mark.parametrize(
    ("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)]
)
def test_the_control_file_of_a_deb(
    name: str, suffix: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    control = tar((member("./md5sums"), b"other"), (member(name), b"Package: a\n"))
    body = ar(("debian-binary", b"2.0\n"), (f"control.tar{suffix}", compress(control)))
    (tmp_path / "a.deb").write_bytes(body)
    assert read_control(tmp_path / "a.deb") == b"Package: a\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (ar(("debian-binary", b"2.0\n")), "no control.tar"),
        (ar(("control.tar", tar((member("./md5sums"), b"")))), "no control file"),
        (b"PK", "not an ar archive"),
    ],
)
def test_a_deb_without_control_file_is_refused(body: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(body)
    with pytest.raises(IntegrityError, match=rf"(?s)a\.deb: .*{reason}.*fix"):
        read_control(tmp_path / "a.deb")
