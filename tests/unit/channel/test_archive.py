from __future__ import annotations

import errno
import io
import json
import os
import random
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.archive import Entry, read_archive
from stacks.core.disk import DiskError
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


def test_an_archive_is_unpacked_as_it_is_read(tmp_path: Path) -> None:
    members = (
        (member("empty", tarfile.DIRTYPE, mode=0o700), b""),
        file("bin/run", b"run", 0o755),
        file("lib/a", mode=0o600),
        link("lib/b", "../../outside"),
        link("lib/c", "lib/a", tarfile.LNKTYPE),
        file("not listed"),
    )
    members[1][0].mtime = 1234567890
    path = conda(tmp_path, *members, paths=listed(members[1:5]))
    into = tmp_path / "into"
    assert read_archive(path, into) == read_archive(path)
    assert {str(p.relative_to(into)) for p in below(into) if p.is_symlink() or p.is_file()} == {
        *("bin/run", "lib/a", "lib/b", "lib/c", "not listed"),
        *("info/index.json", "info/paths.json"),
    }
    assert (into / "empty").is_dir()
    assert (into / "bin/run").read_bytes() == b"run"
    assert (into / "bin/run").stat().st_mtime == 1234567890
    assert (into / "bin/run").stat().st_mode & 0o555 == 0o555
    assert (into / "lib/a").stat().st_mode & 0o777 == 0o444
    assert (into / "lib/b").readlink() == Path("../../outside")
    assert (into / "lib/c").samefile(into / "lib/a")


def test_a_full_disk_is_no_fault_of_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, times: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "utime", full)
    with pytest.raises(DiskError, match="No space left on device"):
        read_archive(conda(tmp_path, file("lib/a")), tmp_path / "into")


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
        ([file("lib/outside"), link("lib", "/tmp")], "'lib' is a folder for other members"),
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
    """Expect the same of reading alone and of unpacking, which writes nothing outside."""
    before = below(path.parent)
    for into in (None, path.parent / "into"):
        with pytest.raises(IntegrityError) as caught:
            read_archive(path, into)
        assert caught.value.what.startswith("odd-1-0.conda is refused: ")
        assert message in caught.value.what
    shutil.rmtree(path.parent / "into", ignore_errors=True)
    assert below(path.parent) == before


def below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_an_archive_that_unpacks_to_far_more_than_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stacks.sources.unpack.LEAST_LIMIT", 0)
    refused(conda(tmp_path, file("zeros", bytes(10 << 20))), "it unpacks to far more bytes")
