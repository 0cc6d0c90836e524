from __future__ import annotations

import io
import json
import random
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from stacks.channel.archive import Entry, read_archive
from stacks.core.errors import IntegrityError
from unit.helpers.archives import member, tar
from unit.helpers.conda import Member, conda, file, link, listed, write_conda
from unit.helpers.serving import sha256

BODY = b"body\n"


def test_the_files_of_an_archive(tmp_path: Path) -> None:
    members = (
        (member("bin", tarfile.DIRTYPE, mode=0o755), b""),
        file("bin/run", b"run", 0o755),
        file("./lib/a"),
        link("lib/b", "a"),
        link("lib/c", "lib/a", tarfile.LNKTYPE),
        file("lib/not listed"),
    )
    paths = listed([members[1], file("lib/a"), *members[3:5]])
    paths[1]["prefix_placeholder"] = "/placeholder"
    entry_points = {"noarch": {"type": "python", "entry_points": ["odd = odd.cli:main"]}}
    archive = read_archive(
        conda(
            tmp_path,
            *members,
            paths=paths,
            info=[file("info/link.json", json.dumps(entry_points).encode())],
        )
    )
    assert archive.files == {
        "bin/run": Entry(True, 3, sha256(b"run")),
        "lib/a": Entry(False, 5, sha256(BODY), is_rewritten=True),
        "lib/b": Entry(target="a"),
        "lib/c": Entry(False, 5, sha256(BODY)),
    }
    assert archive.scripts == ("bin/odd",)
    assert archive.index["name"] == "odd"
    assert sorted(archive.info) == ["info/index.json", "info/link.json", "info/paths.json"]


def test_the_files_of_an_older_archive(tmp_path: Path) -> None:
    path = tmp_path / "odd-1-0.tar.bz2"
    index = {"name": "odd", "version": "1", "build": "0"}
    with tarfile.open(path, "w:bz2") as archive:
        for name, body in (
            ("lib/a", BODY),
            ("info/index.json", json.dumps(index).encode()),
            ("info/paths.json", json.dumps({"paths": listed([file("lib/a")])}).encode()),
        ):
            info = member(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    assert read_archive(path).files == {"lib/a": Entry(False, 5, sha256(BODY))}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([file("../outside")], "'../outside' is outside of the environment"),
        ([file("lib/../../outside")], "is outside of the environment"),
        ([file("/etc/outside")], "'/etc/outside' is outside of the environment"),
        ([link("lib", "/tmp"), file("lib/outside")], "'lib/outside' leads through 'lib'"),
        ([file("lib/outside"), link("lib", "/tmp")], "'lib/outside' leads through 'lib'"),
        ([link("a", "../.."), (member("a/b", tarfile.DIRTYPE), b"")], "'a/b' leads through 'a'"),
        ([file("a"), file("a/b")], "'a/b' leads through 'a'"),
        ([file("a"), file("a", b"other")], "two files have the path 'a'"),
        ([file("a"), file("./a", b"other")], "two files have the path 'a'"),
        ([link("a", "/etc/passwd", tarfile.LNKTYPE)], "'/etc/passwd' is outside"),
        ([link("a", "b", tarfile.LNKTYPE)], "'a' is a hard link to a missing file"),
        ([link("b", "x"), link("a", "b", tarfile.LNKTYPE)], "'a' is a hard link to a missing file"),
        ([(member("pipe", tarfile.FIFOTYPE), b"")], "'pipe' is neither file, folder nor link"),
        ([(member("disk", tarfile.BLKTYPE), b"")], "'disk' is neither file, folder nor link"),
    ],
)
def test_members_that_are_refused(members: list[Member], message: str, tmp_path: Path) -> None:
    refused(conda(tmp_path, *members), message)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"_path": "../outside", "path_type": "hardlink"}, "is outside of the environment"),
        ({"_path": "/etc/passwd", "path_type": "hardlink"}, "is outside of the environment"),
        ({"_path": "lib/none", "path_type": "hardlink"}, "'lib/none', which is missing"),
        ({"_path": "./lib/a", "path_type": "hardlink"}, "without a plain path"),
        ({"_path": 1}, "without a plain path"),
        ("lib/a", "without a plain path"),
        (
            {"_path": "lib/a", "path_type": "hardlink", "prefix_placeholder": ""},
            "'lib/a' has no text to be replaced",
        ),
        (
            {"_path": "lib/a", "path_type": "hardlink", "prefix_placeholder": 1},
            "'lib/a' has no text to be replaced",
        ),
        (
            {"_path": "lib/link", "path_type": "softlink", "prefix_placeholder": "/x"},
            "'lib/link' is a link, so no path can be written into it",
        ),
    ],
)
def test_lists_of_paths_that_are_refused(entry: object, message: str, tmp_path: Path) -> None:
    refused(conda(tmp_path, file("lib/a"), link("lib/link", "a"), paths=[entry]), message)


@pytest.mark.parametrize(
    "point",
    ["../../x = os:system", "a/b = os:system", ".. = os:system", "x = os:system('id')",
     "x = os\nimport evil:main", "x", 1],
)  # fmt: skip
def test_entry_points_that_are_refused(point: object, tmp_path: Path) -> None:
    content = {"noarch": {"type": "python", "entry_points": [point]}}
    info = [file("info/link.json", json.dumps(content).encode())]
    refused(conda(tmp_path, info=info), "an entry point is not plain")


@pytest.mark.parametrize(
    "text", ['{"noarch": "python"}', '{"noarch": {"entry_points": 1}}', "[" * 100_000]
)
def test_descriptions_of_another_form(text: str, tmp_path: Path) -> None:
    refused(conda(tmp_path, info=[file("info/link.json", text.encode())]), "")


@pytest.mark.parametrize("key", ["name", "version", "build"])
def test_names_that_are_refused(key: str, tmp_path: Path) -> None:
    index: dict[str, Any] = {key: "../../odd"}
    refused(conda(tmp_path, **index), f"{key} is not plain: '../../odd'")


def test_a_folder_for_python_packages_that_is_refused(tmp_path: Path) -> None:
    path = conda(tmp_path, python_site_packages_path="../../outside")
    refused(path, "'../../outside' is outside of the environment")


def test_an_archive_without_its_descriptions(tmp_path: Path) -> None:
    path = tmp_path / "odd-1-0.conda"
    refused(write_conda(path, {"info": tar(), "pkg": tar()}), "no info/paths.json")
    refused(write_conda(path, {"pkg": tar()}), "it has 0 info-*.tar.zst, not one")


@pytest.mark.parametrize(
    "content",
    [{"noarch": "python"}, {"noarch": ["python"]}, {"noarch": {"entry_points": None}}, [], "x"],
)
def test_a_description_of_entry_points_that_is_refused(content: object, tmp_path: Path) -> None:
    info = [file("info/link.json", json.dumps(content).encode())]
    refused(conda(tmp_path, info=info), "info/link.json: ")


@pytest.mark.parametrize("folder", [1, {"a": 1}])
def test_a_folder_for_python_packages_that_is_no_text(folder: object, tmp_path: Path) -> None:
    path = conda(tmp_path, python_site_packages_path=folder)
    refused(path, "python_site_packages_path is not text")


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
        with pytest.raises(IntegrityError):
            read_archive(path)


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


def test_broken_archives(tmp_path: Path) -> None:
    sound = conda(tmp_path, file("lib/a", bytes(range(256)) * 40), link("lib/b", "a")).read_bytes()
    chance = random.Random(1)
    for number in range(300):
        data = bytearray(sound)
        if number % 3 == 0:
            del data[chance.randrange(len(data)) :]
        elif number % 3 == 1:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            start = chance.randrange(len(data))
            data[start : start + 20] = chance.randbytes(20)
        path = tmp_path / f"odd-1-{number}.conda"
        path.write_bytes(data)
        try:
            read_archive(path)
        except IntegrityError as error:
            assert error.what.startswith(f"{path.name} is refused: ")


def refused(path: Path, message: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        read_archive(path)
    assert caught.value.what.startswith("odd-1-0.conda is refused: ")
    assert message in caught.value.what
