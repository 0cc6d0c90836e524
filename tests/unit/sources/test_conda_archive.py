"""What a conda archive installs, and the archives that are refused before anything is written."""

import errno
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from stacks.core.errors import DiskError, IntegrityError
from stacks.sources import unpack
from stacks.sources.conda_archive import Entry, is_unpacked, read_archive
from unit.helpers.archives import member, tar
from unit.helpers.conda import Member, conda, file, link, listed, write_conda
from unit.helpers.serving import sha256

BODY = b"body\n"
SCRIPT = file("bin/run", b"run", 0o755)


def below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def described(content: object) -> list[Member]:
    """Return the member info/link.json with some content, or with a text as it is."""
    text = content if isinstance(content, str) else json.dumps(content)
    return [file("info/link.json", text.encode())]


def test_what_an_archive_installs_is_what_is_unpacked(tmp_path: Path) -> None:
    members = (
        (member("empty", tarfile.DIRTYPE, mode=0o700), b""),
        SCRIPT,
        file("./lib/a", mode=0o600),
        link("lib/b", "../../outside"),
        link("lib/c", "lib/a", tarfile.LNKTYPE),
        file("lib/not listed"),
    )
    members[1][0].mtime = 1234567890
    paths = listed([members[1], file("lib/a"), *members[3:5]])
    paths[1]["prefix_placeholder"] = "/placeholder"
    points = {"noarch": {"type": "python", "entry_points": ["odd = odd.cli:main"]}}
    path = conda(tmp_path, *members, paths=paths, info=described(points))
    archive, into = read_archive(path), tmp_path / "into"
    assert archive.files == {
        "bin/run": Entry(True, 3, sha256(b"run")),
        "lib/a": Entry(False, 5, sha256(BODY), is_rewritten=True),
        "lib/b": Entry(target="../../outside"),
        "lib/c": Entry(False, 5, sha256(BODY)),
    }
    assert archive.scripts == ("bin/odd",)
    assert archive.index["name"] == "odd"
    info = ["info/index.json", "info/link.json", "info/paths.json"]
    assert sorted(archive.info) == info
    assert read_archive(path, into) == archive
    unpacked = {str(p.relative_to(into)) for p in below(into) if p.is_symlink() or p.is_file()}
    assert unpacked == {*archive.files, *info, "lib/not listed"}
    assert (into / "empty").is_dir()
    assert (into / "bin/run").read_bytes() == b"run"
    assert (into / "bin/run").stat().st_mtime == 1234567890
    assert (into / "bin/run").stat().st_mode & 0o777 == 0o555
    assert (into / "lib/a").stat().st_mode & 0o777 == 0o444
    assert (into / "lib/b").readlink() == Path("../../outside")
    assert (into / "lib/c").samefile(into / "lib/a")


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        ("true", True),
        ("printf other > lib/a", False),
        ("chmod +x lib/a", False),
        ("rm lib/a", False),
        ("rm lib/a && mkfifo lib/a", False),
        ("ln -sf /etc/passwd lib/b", False),
        ("touch lib/more", False),
        ("mv ../into ../moved && ln -s moved ../into", False),
        ("rm -r ../into", False),
    ],
)
def test_a_folder_that_is_not_just_what_an_archive_installs(
    harm: str, found: bool, tmp_path: Path
) -> None:
    path, into = conda(tmp_path, SCRIPT, file("lib/a"), link("lib/b", "a")), tmp_path / "into"
    read_archive(path, into)
    subprocess.run(["sh", "-ec", f"chmod -R u+w . && {harm}"], cwd=into, check=True)
    assert is_unpacked(path, into) == found


def test_a_full_disk_is_no_fault_of_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, times: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "utime", full)
    with pytest.raises(DiskError, match="No space left on device"):
        read_archive(conda(tmp_path, file("lib/a")), tmp_path / "into")


def refused(path: Path, message: str) -> None:
    """Expect the same of reading alone and of unpacking, which writes nothing outside."""
    before = below(path.parent)
    for into in (None, path.parent / "into"):
        with pytest.raises(IntegrityError) as caught:
            read_archive(path, into)
        assert caught.value.what.startswith(f"{path.name} is refused: ")
        assert message in caught.value.what
    shutil.rmtree(path.parent / "into", ignore_errors=True)
    assert below(path.parent) == before


SPARSE = b"".join(
    b"%d %s\n" % (len(text) + 4, text)
    for text in (
        b"GNU.sparse.major=1",
        b"GNU.sparse.minor=0",
        b"GNU.sparse.name=lib/b",
        b"GNU.sparse.realsize=4",
    )
)
MEMBERS: list[tuple[list[Member], str]] = [
    ([file("../outside")], "../outside: the path is outside of the folder"),
    ([file("/etc/outside")], "/etc/outside: the path is outside of the folder"),
    ([file("lib/a\nb")], "the path is not printable text"),
    ([link("lib", "/tmp"), file("lib/outside")], "lib: a link is in the place of a folder"),
    ([file("lib/outside"), link("lib", "/tmp")], "lib: a folder has the same path"),
    ([link("a", "../.."), (member("a/b", tarfile.DIRTYPE), b"")], "a: a link is in the place"),
    ([file("a"), file("a/b")], "a: a file is in the place of a folder"),
    ([file("a"), file("a", b"other")], "a: two files have this path"),
    ([link("a", "/etc/passwd", tarfile.LNKTYPE)], "/etc/passwd: the path is outside"),
    ([link("a", "b", tarfile.LNKTYPE)], "a: a hard link to b, which is no file"),
    ([link("b", "x"), link("a", "b", tarfile.LNKTYPE)], "a: a hard link to b, which is no"),
    ([(member("pipe", tarfile.FIFOTYPE), b"")], "pipe: neither file, folder nor link"),
    *(
        ([(member("odd", kind), b"14 path=lib/b\n"), file("lib/c")], "a header of the kind ")
        for kind in (tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_SPARSE)
    ),
    *(
        ([(member("odd", kind), bytes(2 << 20)), file("lib/c")], "or header of 2097152 bytes")
        for kind in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE)
    ),
    (
        [
            (member("odd", tarfile.XHDTYPE), SPARSE),
            file("lib/c", b"1\n0\n4\n".ljust(512, b"\0") + b"body"),
        ],
        "'lib/b' has holes",
    ),
]


def entry(**changes: object) -> dict[str, object]:
    return {"_path": "lib/a", "path_type": "hardlink", **changes}


LISTED: list[tuple[object, str]] = [
    (entry(_path="../outside"), "is outside of the folder"),
    (entry(_path="/etc/passwd"), "is outside of the folder"),
    (entry(_path="lib/none"), "'lib/none', which is missing"),
    (entry(_path="./lib/a"), "without a plain path"),
    ({"_path": 1}, "without a plain path"),
    ("lib/a", "without a plain path"),
    (entry(prefix_placeholder=""), "'lib/a' has no text to be replaced"),
    (entry(prefix_placeholder=1), "'lib/a' has no text to be replaced"),
    (
        entry(_path="lib/link", prefix_placeholder="/x"),
        "'lib/link' is a link, so no path can be written into it",
    ),
]
ENTRY_POINTS = (
    *("../../x = os:system", "a/b = os:system", ".. = os:system", "x = os:system('id')"),
    *("x = os\nimport evil:main", "x", 1),
)
NO_ENTRY_POINTS: tuple[object, ...] = (
    *({"noarch": "python"}, {"noarch": ["python"]}, [], "7"),
    *({"noarch": {"entry_points": 1}}, {"noarch": {"entry_points": None}}),
)
DESCRIBED: list[tuple[object, str]] = [
    *(
        ({"noarch": {"type": "python", "entry_points": [p]}}, "an entry point is not plain")
        for p in ENTRY_POINTS
    ),
    *((content, "info/link.json: no list of entry points") for content in NO_ENTRY_POINTS),
    ("no JSON", ""),
    ("[" * 100_000, ""),
]
INDEXED: list[tuple[str, Any, str]] = [
    *((key, "../../odd", f"{key} is not plain: ") for key in ("name", "version", "build")),
    ("python_site_packages_path", "../../outside", "../../outside: the path is outside"),
    *(
        ("python_site_packages_path", value, "is not the path of a folder")
        for value in (1, {"a": 1}, ".")
    ),
]


@pytest.mark.parametrize(
    ("members", "options", "message"),
    [
        *(([file("first"), *members], {"paths": []}, message) for members, message in MEMBERS),
        *(
            ([file("lib/a"), link("lib/link", "a")], {"paths": [item]}, message)
            for item, message in LISTED
        ),
        *(([], {"info": described(content)}, message) for content, message in DESCRIBED),
        *(([], {key: value}, message) for key, value, message in INDEXED),
    ],
)
def test_archives_that_are_refused(
    members: list[Member], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    refused(conda(tmp_path, *members, **options), message)


def test_data_that_only_some_readers_see_are_refused(tmp_path: Path) -> None:
    broken = bytearray(member("zz").tobuf(tarfile.GNU_FORMAT))
    broken[124] = 0x81
    for rest, message in (
        (bytes(broken), "a header is broken"),
        (bytes(1024) + tar(file("lib/b")), "data follow the end of a tar archive"),
    ):
        path = conda(tmp_path, file("lib/a"))
        with zipfile.ZipFile(path) as archive:
            packed = archive.read("info-odd-1-0.tar.zst")
        info = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        hidden = tar(file("lib/a")).rstrip(b"\0") + bytes(507) + rest
        refused(write_conda(path, {"info": info, "pkg": hidden}), message)


def test_an_archive_without_its_descriptions(tmp_path: Path) -> None:
    path = tmp_path / "odd-1-0.conda"
    refused(write_conda(path, {"info": tar(), "pkg": tar()}), "no info/paths.json")
    only_paths = tar(file("info/paths.json", b'{"paths": []}'))
    refused(write_conda(path, {"info": only_paths, "pkg": tar()}), "no info/index.json")
    refused(write_conda(path, {"pkg": tar()}), "it has 0 info-*.tar.zst, not one")


def test_an_archive_that_unpacks_to_far_more_than_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "LEAST_LIMIT", 0)
    refused(conda(tmp_path, file("zeros", bytes(10 << 20))), "it unpacks to far more than its")
    headers = tar((member("bin", tarfile.DIRTYPE), b""))[:512] * (1 << 14)
    bomb = write_conda(tmp_path / "odd-1-0.conda", {"info": headers, "pkg": tar()})
    refused(bomb, "it unpacks to far more than its")
