from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from stacks.core.errors import IntegrityError
from stacks.sources import unpack
from stacks.sources.unpack import read_control, unpack_deb, unpack_tar, unpack_zip
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


def test_a_folder_without_write_permission_is_filled_and_can_be_pruned(tmp_path: Path) -> None:
    archive = deb(
        tmp_path / "a.deb",
        (member("./d", tarfile.DIRTYPE, mode=0o555), b""),
        (member("./d/file"), b"x"),
    )
    unpack_deb(archive, tmp_path / "out")
    assert (tmp_path / "out/d").stat().st_mode & 0o777 == 0o755


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
        ([member("./l", tarfile.SYMTYPE, "../outside")], "outside of"),
        ([member("./a/l", tarfile.SYMTYPE, "../../outside/secret")], "outside of"),
        ([member("./l", tarfile.SYMTYPE, "/../outside")], "outside of"),
        ([member("./l", tarfile.SYMTYPE, "l")], "outside of"),
        (
            [
                member("./a/b/up", tarfile.SYMTYPE, "../.."),
                member("./l", tarfile.SYMTYPE, "a/b/up/../outside"),
            ],
            "outside of",
        ),
        ([member("./l", tarfile.SYMTYPE, "a\nb")], "a link to"),
        ([member("./l", tarfile.SYMTYPE, "")], "a link to"),
        ([member("./a\nb")], "not printable"),
        ([member("./" + "a" * 300)], "too long"),
        ([member("./sparse", tarfile.GNUTYPE_SPARSE)], "neither file"),
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


@pytest.mark.parametrize("offset", [0, 1024])
def test_a_broken_header_is_not_the_end_of_the_archive(offset: int, tmp_path: Path) -> None:
    """tarfile itself would leave out this member and those behind it, without an error."""
    data = bytearray(tar((member("./a"), b"1"), (member("./b"), b"2")))
    data[offset : offset + 5] = b"./evi"
    (tmp_path / "a.deb").write_bytes(ar(("data.tar", bytes(data))))
    with pytest.raises(IntegrityError, match=r"a\.deb: .*a header is broken"):
        unpack_deb(tmp_path / "a.deb", tmp_path / "out")


def test_an_archive_without_its_end_is_refused(tmp_path: Path) -> None:
    whole = tar((member("./a"), b"1"), (member("./b"), b"2"))
    (tmp_path / "a.tar").write_bytes(whole[:1024])
    with pytest.raises(IntegrityError, match=r"a\.tar: .*a header is broken"):
        unpack_tar(tmp_path / "a.tar", tmp_path / "out")


def test_a_checksum_behind_the_last_member_is_compared(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(GOOD))
    data[-5] ^= 1
    (tmp_path / "a.tar.gz").write_bytes(data)
    with pytest.raises(IntegrityError, match=r"a\.tar\.gz: .*CRC"):
        unpack_tar(tmp_path / "a.tar.gz", tmp_path / "out")


@pytest.mark.parametrize("size", [b"-1        ", b"+5        ", b"0x10      ", b"99999999  "])
def test_a_wrong_size_in_an_ar_header_is_refused(size: bytes, tmp_path: Path) -> None:
    body = ar(("data.tar", GOOD))
    (tmp_path / "a.deb").write_bytes(body[:56] + size + body[66:])
    with pytest.raises(IntegrityError, match=r"a\.deb: cannot be unpacked"):
        unpack_deb(tmp_path / "a.deb", tmp_path / "out")


def test_a_negative_size_in_a_tar_header_is_refused(tmp_path: Path) -> None:
    header = bytearray(tar((member("./a"), b""))[:512])
    header[124:136] = b"\xff" * 11 + b"\x00"
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 8 * 32)
    (tmp_path / "a.tar").write_bytes(bytes(header) + bytes(9 * 512))
    with pytest.raises(IntegrityError, match=r"a\.tar: cannot be unpacked"):
        unpack_tar(tmp_path / "a.tar", tmp_path / "out")


def test_a_name_in_latin_1_is_refused(tmp_path: Path) -> None:
    data = tar((member("./na\u00efve"), b"1")).replace(b"\xc3\xaf", b"\xef\0")
    header = bytearray(data[:512])
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "a.tar").write_bytes(bytes(header) + data[512:])
    with pytest.raises(IntegrityError, match=r"a\.tar: .*not printable text in UTF-8"):
        unpack_tar(tmp_path / "a.tar", tmp_path / "out")


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "LEAST_LIMIT", 1 << 16)
    for compress in (gzip.compress, lzma.compress, zstandard.compress, bz2.compress):
        (tmp_path / "a").write_bytes(compress(tar((member("./bomb"), bytes(20 << 20)))))
        with pytest.raises(IntegrityError, match="unpacks to far more than its size"):
            unpack_tar(tmp_path / "a", tmp_path / "out")
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) < 1 << 20


def test_an_absolute_link_of_a_tar_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(tar((member("./l", tarfile.SYMTYPE, "/usr"), b"")))
    with pytest.raises(IntegrityError, match=r"a\.tar: .*l: a link to /usr"):
        unpack_tar(tmp_path / "a.tar", tmp_path / "out")


def test_a_file_that_is_missing_is_not_a_broken_archive(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        unpack_tar(tmp_path / "a.tar", tmp_path / "out")


def archives() -> list[bytes]:
    """Return small archives of each format that unpack."""
    members = [
        (FOLDER, b""),
        (member("./usr/" + "long" * 30), b"1" * 700),
        (member("./usr/l", tarfile.SYMTYPE, "tool"), b""),
        (member("./usr/h", tarfile.LNKTYPE, "./usr/" + "long" * 30), b""),
    ]
    pax = io.BytesIO()
    with tarfile.open(fileobj=pax, mode="w", format=tarfile.PAX_FORMAT) as file:
        file.addfile(member("./" + "\u00e9" * 120))
    plain = [tar(*members), pax.getvalue()]
    compressors = (bytes, gzip.compress, lzma.compress, bz2.compress, zstandard.compress)
    compressed = [compress(data) for data in plain for compress in compressors]
    debs = [ar(("debian-binary", b"2.0\n"), ("data.tar", data)) for data in compressed]
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name in ("a/b.py", "\u00e9/c", "d/"):
            zip_file.writestr(name, b"content" * 99)
    return [*compressed, *debs, *[zipped.getvalue()] * 8]


def test_damaged_archives_are_unpacked_or_refused(tmp_path: Path) -> None:
    """No damage gives another error, or writes outside of the folder."""
    generator, originals = random.Random(16), archives()
    refused = 0
    for number in range(600):
        data = bytearray(generator.choice(originals))
        for _ in range(generator.choice((1, 1, 3, 20))):
            start = generator.randrange(len(data))
            match generator.randrange(4):
                case 0:
                    data[start] ^= 1 << generator.randrange(8)
                case 1:
                    del data[start : start + generator.randrange(1, 600)]
                case 2:
                    data[start:start] = generator.randbytes(generator.randrange(1, 30))
                case _:
                    data[start : start + 8] = generator.choice(
                        (b"\xff" * 8, b"\0" * 8, b"-1 ../\n/")
                    )
            data = data or bytearray(b"x")
        work = tmp_path / str(number)
        work.mkdir()
        (work / "archive").write_bytes(data)
        unpacker = unpack_deb if data.startswith(b"!<") else unpack_tar
        unpacker = unpack_zip if data.startswith(b"PK") else unpacker
        try:
            unpacker(work / "archive", work / "out")
        except IntegrityError:
            refused += 1
        assert {path.name for path in work.iterdir()} <= {"archive", "out"}, number
        shutil.rmtree(work)
    assert refused > 300


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
