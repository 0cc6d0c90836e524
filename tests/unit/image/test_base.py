from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

import pytest

from stacks.core.workspace import Workspace
from stacks.image import base
from unit.helpers.archives import ar, member, tar

CONTROL = b"Package: base-files\nVersion: 12.4\nArchitecture: amd64\n"


def deb(path: Path, control: bytes, *names: str) -> Path:
    folders = {str(parent) for name in names for parent in Path(name).parents} - {"."}
    members = [
        *((member(f"./{f}", tarfile.DIRTYPE, mode=0o755), b"") for f in sorted(folders)),
        *((member(f"./{name}"), f"{name}\n".encode()) for name in names),
    ]
    body = tar(*members)
    path.write_bytes(
        ar(
            ("debian-binary", b"2.0\n"),
            ("control.tar.xz", lzma.compress(tar((member("./control"), control)))),
            ("data.tar.xz", lzma.compress(body)),
        )
    )
    return path


@pytest.fixture
def root(workspace: Workspace, tmp_path: Path) -> Path:
    files = deb(
        tmp_path / "base-files_12.4_amd64.deb",
        CONTROL,
        *base.COPIES.values(),
        "bin/dash",
        "lib/x86_64-linux-gnu/libc.so.6",
        "usr/bin/mawk",
        "usr/share/doc/base-files/copyright",
        "usr/share/doc/base-files/changelog.gz",
        "usr/share/man/man1/dash.1.gz",
    )
    mozilla = "usr/share/ca-certificates/mozilla"
    authorities = deb(
        tmp_path / "ca-certificates_1_all.deb",
        b"Package: ca-certificates\n",
        f"{mozilla}/B.crt",
        f"{mozilla}/A.crt",
    )
    made = tmp_path / "made" / "root"
    made.parent.mkdir()
    base.make(made, {"ca-certificates": authorities, "base-files": files})
    return made


def test_the_root_is_one_of_merged_usr(root: Path) -> None:
    assert (root / "bin").readlink() == Path("usr/bin")
    assert (root / "usr/bin/dash").read_text() == "bin/dash\n"
    assert (root / "usr/lib/x86_64-linux-gnu/libc.so.6").is_file()
    assert (root / "usr/bin/awk").readlink() == Path("mawk")


def test_what_maintainer_scripts_would_have_written_is_there(root: Path) -> None:
    assert (root / "etc/passwd").read_text() == "usr/share/base-passwd/passwd.master\n"
    bundle = (root / "etc/ssl/certs/ca-certificates.crt").read_text()
    assert bundle == "".join(f"usr/share/ca-certificates/mozilla/{n}.crt\n" for n in "AB")
    assert (root / "tmp").stat().st_mode & 0o7777 == 0o1777


def test_manuals_are_left_out_and_copyright_files_stay(root: Path) -> None:
    assert not (root / "usr/share/man").exists()
    assert [p.name for p in (root / "usr/share/doc/base-files").iterdir()] == ["copyright"]


def test_scanners_find_the_packages(root: Path) -> None:
    assert (root / "var/lib/dpkg/status.d/base-files").read_bytes() == CONTROL


def test_nothing_of_the_package_is_left_beside_the_root(root: Path) -> None:
    assert [path.name for path in root.parent.iterdir()] == ["root"]


def test_every_package_of_the_locked_base_is_pinned(workspace: Workspace) -> None:
    assert [pin.name for pin in base.pins(workspace)] == sorted(base.read_base_file(workspace).debs)


def test_the_licences_that_copyright_files_name(workspace: Workspace) -> None:
    first, second = base.pins(workspace)[:2]
    texts = {
        first.name: b"Format: 1.0\nLicense: GPL-2+\n\nLicense: BSD-3\n",
        second.name: b"This is free text. License: whatever\n",
    }
    archive = workspace.cache / "bases" / f"{base.key(workspace)}.tar"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w") as file:
        for name, text in texts.items():
            entry = tarfile.TarInfo(f"usr/share/doc/{name}/copyright")
            entry.size = len(text)
            file.addfile(entry, io.BytesIO(text))
    found = base.licences(workspace)
    assert found[first] == ("BSD-3", "GPL-2+")
    assert found[second] == ()
