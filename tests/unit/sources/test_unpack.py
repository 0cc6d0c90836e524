"""Debs and tar archives: what is unpacked, and what is refused."""

import bz2
import gzip
import lzma
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from stacks.core.errors import IntegrityError
from stacks.sources import unpack
from stacks.sources.unpack import read_control, unpack_deb, unpack_tar, unpack_zip
from unit.helpers.archives import ar, deb, member, tar, zip_of
from unit.helpers.conda import Member, file, link

COMPRESSIONS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("", bytes),
    (".gz", gzip.compress),
    (".bz2", bz2.compress),
    (".xz", lzma.compress),
    (".zst", zstandard.compress),
]
FOLDER = member("./usr", tarfile.DIRTYPE, mode=0o755)
# Names that are ordinary text: a no-break space, a soft hyphen, an ideographic space.
UNUSUAL = ("a\u00a0b", "a\u00adb", "\u3000", "na\u00efve \U0001f40d")


def hard(name: str, target: str) -> Member:
    return link(name, target, tarfile.LNKTYPE)


def special(name: str, kind: bytes) -> Member:
    return member(name, kind), b""


@pytest.mark.parametrize(("suffix", "compress"), COMPRESSIONS)
def test_files_of_a_deb_are_unpacked(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    body = bytes(range(256)) * 9999
    archive = deb(
        tmp_path / "a.deb",
        (member("./", tarfile.DIRTYPE, mode=0o755), b""),
        (FOLDER, b""),
        (member("./usr/tool", mode=0o6755), body),
        (member("./usr/same", tarfile.LNKTYPE, "./usr/tool"), b""),
        (member("./usr/link", tarfile.SYMTYPE, "tool"), b""),
        (member("./absolute", tarfile.SYMTYPE, "/etc/passwd"), b""),
        (member("./etc/without/folders"), b"x"),
        (member("./set", tarfile.DIRTYPE, mode=0o3775), b""),
        (member("./locked", tarfile.DIRTYPE, mode=0o555), b""),
        (member("./locked/file"), b"x"),
        suffix=suffix,
        compress=compress,
    )
    out = tmp_path / "out"
    unpack_deb(archive, out)
    assert (out / "usr/tool").read_bytes() == body
    assert (out / "usr/same").samefile(out / "usr/tool")
    assert (out / "usr/link").readlink() == Path("tool")
    assert (out / "absolute").readlink() == Path("/etc/passwd")
    assert (out / "etc/without/folders").read_bytes() == b"x"
    # Without special bits, and folders can be filled and pruned.
    modes = {name: (out / name).stat().st_mode & 0o7777 for name in ("usr/tool", "set", "locked")}
    assert modes == {"usr/tool": 0o755, "set": 0o775, "locked": 0o755}


def test_of_two_debs_in_one_folder_the_second_wins_and_a_link_is_not_followed(
    tmp_path: Path,
) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    first = [(FOLDER, b""), file("./usr/a", b"1"), link("./l", str(tmp_path / "secret"))]
    unpack_deb(deb(tmp_path / "a.deb", *first, file("./l", b"new")), tmp_path / "out")
    unpack_deb(deb(tmp_path / "b.deb", (FOLDER, b""), file("./usr/a", b"2")), tmp_path / "out")
    assert (tmp_path / "out/usr/a").read_bytes() == b"2"
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert (tmp_path / "out/l").read_bytes() == b"new"


@pytest.mark.parametrize("name", UNUSUAL)
def test_a_name_may_have_any_letter_that_is_text(tmp_path: Path, name: str) -> None:
    link = member("./link", tarfile.SYMTYPE, name)
    (tmp_path / "a.tar").write_bytes(tar((member(f"./{name}"), b"1"), (link, b"")))
    unpack_tar(tmp_path / "a.tar", tmp_path / "tar")
    unpack_zip(zip_of(tmp_path / "a.zip", (f"d/{name}", b"1", 0)), tmp_path / "zip")
    assert (tmp_path / "tar/link").read_bytes() == (tmp_path / "zip/d" / name).read_bytes() == b"1"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([file("../evil")], "outside of"),
        ([file("./usr/../../evil")], "outside of"),
        ([file("EVIL")], "outside of"),
        ([link("./l", ".."), file("./l/evil")], "a link is in"),
        ([link("./l", "OUTSIDE"), file("./l/evil")], "a link is in"),
        ([link("./l", "OUTSIDE"), special("./l", tarfile.DIRTYPE)], "a link is in"),
        ([link("./l", "OUTSIDE"), file("./l/a/b/evil")], "a link is in"),
        ([hard("./h", "../secret")], "outside of"),
        ([hard("./h", "SECRET")], "outside of"),
        ([link("./l", "SECRET"), hard("./h", "./l")], "no file"),
        ([link("./l", "OUTSIDE"), hard("./h", "l/secret")], "no file"),
        ([hard("./h", "./nosuch")], "no file"),
        ([file("./h"), hard("./h", "./h")], "no file"),
        ([special("./dev", tarfile.CHRTYPE)], "neither file"),
        ([special("./dev", tarfile.BLKTYPE)], "neither file"),
        ([special("./fifo", tarfile.FIFOTYPE)], "neither file"),
        ([special("./d", tarfile.DIRTYPE), file("./d")], "a folder has"),
        ([file("./f"), file("./f/g")], "a file is in"),
        ([link("./l", "../outside")], "outside of"),
        ([link("./a/l", "../../outside/secret")], "outside of"),
        ([link("./a/l", "/../outside")], "outside of"),
        ([link("./l", "l")], "outside of"),
        ([link("./a/b/up", "../.."), link("./l", "a/b/up/../outside")], "outside of"),
        ([link("./l", "a\nb")], "a link to"),
        ([link("./l", "")], "a link to"),
        ([file("./a\nb")], "not printable"),
        ([file("./a\u202eb")], "not printable"),
        ([file("./" + "a" * 300)], "too long"),
        ([special("./sparse", tarfile.GNUTYPE_SPARSE)], "neither file"),
    ],
)
def test_nothing_is_written_outside_of_the_folder(
    tmp_path: Path, members: list[Member], reason: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    for info, _ in members:
        info.name = info.name.replace("EVIL", str(outside / "evil"))
        info.linkname = info.linkname.replace("OUTSIDE", str(outside))
        info.linkname = info.linkname.replace("SECRET", str(outside / "secret"))
    archive = deb(tmp_path / "a.deb", *members)
    with pytest.raises(IntegrityError, match=f"(?s)a\\.deb.*{reason}.*fix"):
        unpack_deb(archive, tmp_path / "out")
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"
    assert (outside / "secret").stat().st_nlink == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.deb", "out", "outside"]


GOOD = tar((member("./a"), bytes(5000)))
TWO = tar((member("./a"), b"1"), (member("./b"), b"2"))


def flipped(data: bytes, start: int, value: bytes) -> bytes:
    return data[:start] + value + data[start + len(value) :]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not an ar archive"),
        (b"PK\x03\x04 a zip", "not an ar archive"),
        (ar(("debian-binary", b"2.0\n")), r"has no data\.tar"),
        (ar(("data.tar.xz", lzma.compress(GOOD)))[:-20], "truncated"),
        (ar(("data.tar.xz", b"not xz")), ""),
        (ar(("data.tar.gz", b"not gz")), ""),
        (ar(("data.tar.gz", gzip.compress(GOOD, mtime=0)[:-30])), ""),
        (ar(("data.tar.zst", b"not zst")), ""),
        (ar(("data.tar.zst", zstandard.compress(GOOD)[:-30])), ""),
        (ar(("data.tar.bz2", b"BZh")), ""),
        (ar(("data.tar", b"not tar" * 999)), ""),
        (ar(("data.tar", GOOD[:2000])), ""),
        (ar(("data.tar", GOOD))[:40], "header is broken"),
        (b"!<arch>\n" + b"x" * 60, "header is broken"),
        *(
            (flipped(ar(("data.tar", GOOD)), 56, size), "")
            for size in (b"-1        ", b"+5        ", b"0x10      ", b"99999999  ")
        ),
        # tarfile itself would leave out this member and those behind it, without an error.
        *(
            (ar(("data.tar", flipped(TWO, offset, b"./evi"))), "a header is broken")
            for offset in (0, 1024)
        ),
    ],
)
def test_a_broken_deb_is_refused(tmp_path: Path, body: bytes, reason: str) -> None:
    (tmp_path / "a.deb").write_bytes(body)
    with pytest.raises(IntegrityError, match=rf"(?s)a\.deb: cannot be unpacked.*{reason}.*fix"):
        unpack_deb(tmp_path / "a.deb", tmp_path / "out")


def test_a_deb_takes_no_memory_for_what_only_its_header_says(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(flipped(ar(("data.tar", GOOD)), 56, b"9999999999"))
    tracemalloc.start()
    try:
        with pytest.raises(IntegrityError, match=r"a\.deb: cannot be unpacked.*truncated"):
            unpack_deb(tmp_path / "a.deb", tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def checked(header: bytes) -> bytes:
    """Return a header of a tar archive with the right checksum."""
    return flipped(header, 148, b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 8 * 32))


LATIN = tar((member("./na\u00efve"), b"1")).replace(b"\xc3\xaf", b"\xef\0")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (TWO[:1024], "a header is broken"),
        (gzip.compress(GOOD, mtime=0)[:-5] + b"\xfe" + gzip.compress(GOOD, mtime=0)[-4:], "CRC"),
        (checked(flipped(tar((member("./a"), b""))[:512], 124, b"\xff" * 11 + b"\0")), ""),
        (checked(LATIN[:512]) + LATIN[512:], "not printable text in UTF-8"),
        (tar((member("./l", tarfile.SYMTYPE, "/usr"), b"")), "l: a link to /usr"),
        (tar((member("../outside"), b"text")), "outside of the folder"),
    ],
)
def test_a_broken_tar_archive_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "a.tar").write_bytes(data)
    with pytest.raises(IntegrityError, match=rf"(?s)a\.tar: cannot be unpacked.*{reason}"):
        unpack_tar(tmp_path / "a.tar", tmp_path / "out")
    assert not (tmp_path / "outside").exists()


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "LEAST_LIMIT", 1 << 16)
    for _, compress in COMPRESSIONS[1:]:
        (tmp_path / "a").write_bytes(compress(tar((member("./bomb"), bytes(20 << 20)))))
        with pytest.raises(IntegrityError, match="unpacks to far more than its size"):
            unpack_tar(tmp_path / "a", tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(20 << 20))
    with pytest.raises(IntegrityError, match=r"a\.zip: .*unpacks to far more than its size"):
        unpack_zip(tmp_path / "a.zip", tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*"))


def test_bombs_of_headers_and_behind_the_last_member_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "LEAST_LIMIT", 1 << 16)
    headers = zstandard.compress(tar((FOLDER, b""))[:512] * (1 << 16) + bytes(1024))
    unpackers: list[tuple[bytes, Callable[[Path], object]]] = [
        (zstandard.compress(GOOD + bytes(70 << 20)), lambda path: unpack_tar(path, tmp_path / "o")),
        (headers, lambda path: unpack_tar(path, tmp_path / "o")),
        (ar(("data.tar.zst", headers)), lambda path: unpack_deb(path, tmp_path / "o")),
        (ar(("control.tar.zst", headers)), read_control),
    ]
    for data, unpacker in unpackers:
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(IntegrityError, match="unpacks to far more than its size"):
            unpacker(tmp_path / "a")


def test_the_control_file_of_a_deb(tmp_path: Path) -> None:
    path, others = tmp_path / "a.deb", (member("./md5sums"), b"other")
    for name in ("control", "./control"):
        path.write_bytes(ar(("control.tar", tar(others, (member(name), b"Package: a\n")))))
        assert read_control(path) == b"Package: a\n"
    path.write_bytes(ar(("control.tar", tar(others))))
    with pytest.raises(IntegrityError, match=r"(?s)a\.deb: .*no control file.*fix"):
        read_control(path)
