from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.image import base
from unit.helpers.archives import ar, member, tar

CONTROL = b"Package: base-files\nVersion: 12.4\nArchitecture: amd64\n"


def deb(path: Path, control: bytes, *names: str, links: Mapping[str, object] = {}) -> Path:
    paths = (*names, *links)
    folders = {str(parent) for name in paths for parent in Path(name).parents} - {"."}
    members = [
        *((member(f"./{f}", tarfile.DIRTYPE, mode=0o755), b"") for f in sorted(folders)),
        *((member(f"./{name}"), f"{name}\n".encode()) for name in names),
        *((member(f"./{n}", tarfile.SYMTYPE, str(target)), b"") for n, target in links.items()),
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


def test_the_root_has_merged_usr_and_what_maintainer_scripts_would_write(root: Path) -> None:
    assert [path.name for path in root.parent.iterdir()] == ["root"]
    assert (root / "bin").readlink() == Path("usr/bin")
    assert (root / "usr/bin/dash").read_text() == "bin/dash\n"
    assert (root / "usr/lib/x86_64-linux-gnu/libc.so.6").is_file()
    assert (root / "usr/bin/awk").readlink() == Path("mawk")
    assert (root / "etc/passwd").read_text() == "usr/share/base-passwd/passwd.master\n"
    bundle = (root / "etc/ssl/certs/ca-certificates.crt").read_text()
    assert bundle == "".join(f"usr/share/ca-certificates/mozilla/{n}.crt\n" for n in "AB")
    assert (root / "tmp").stat().st_mode & 0o7777 == 0o1777
    # Manuals are left out, copyright files stay, and scanners find the packages.
    assert not (root / "usr/share/man").exists()
    assert [p.name for p in (root / "usr/share/doc/base-files").iterdir()] == ["copyright"]
    assert (root / "var/lib/dpkg/status.d/base-files").read_bytes() == CONTROL


def test_every_package_of_the_locked_base_is_pinned(workspace: Workspace) -> None:
    assert [pin.name for pin in base.pins(workspace)] == sorted(base.read_base_file(workspace).debs)


def test_a_damaged_base_is_made_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def write(workspace: Workspace, target: Path) -> None:
        made.append(target)
        target.write_bytes(b"the base")

    monkeypatch.setattr(base, "write", write)
    for damage in (None, b"The base", b""):
        path = base.tar(workspace)
        assert path.read_bytes() == b"the base"
        assert base.tar(workspace) == path
        if damage is not None:
            path.write_bytes(damage)
    assert base.tar(workspace).read_bytes() == b"the base"
    assert len(made) == 3


def test_the_licences_that_copyright_files_name(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = base.pins(workspace)[:2]
    texts = {
        first.name: b"Format: 1.0\nLicense: GPL-2+\n\nLicense: BSD-3\n",
        second.name: b"This is free text. License: whatever\n",
    }

    def write(workspace: Workspace, target: Path) -> None:
        with tarfile.open(target, "w") as file:
            for name, text in texts.items():
                entry = tarfile.TarInfo(f"usr/share/doc/{name}/copyright")
                entry.size = len(text)
                file.addfile(entry, io.BytesIO(text))

    monkeypatch.setattr(base, "write", write)
    found = base.licences(workspace)
    assert found[first] == ("BSD-3", "GPL-2+")
    assert found[second] == ()


def made_from(folder: Path, *debs: Path) -> Path:
    """Make the base from debs in this order, and from one that has what every base needs."""
    needed = deb(folder / "z_1_all.deb", CONTROL, *base.COPIES.values())
    root = folder / "made" / "root"
    root.parent.mkdir()
    base.make(root, {path.name: path for path in (*debs, needed)})
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Give a folder of the machine that makes the base."""
    folder = tmp_path / "outside"
    (folder / "doc").mkdir(parents=True)
    (folder / "file").write_text("of this machine")
    (folder / "doc/README").write_text("of this machine")
    return folder


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    "name", ["usr/share/libc-bin/nsswitch.conf", "usr/share/ca-certificates/mozilla/A.crt"]
)
def test_a_file_of_this_machine_never_gets_into_the_base(
    name: str, tmp_path: Path, outside: Path
) -> None:
    """An absolute link names a file of the root."""
    names = [*set(base.COPIES.values()).difference([name]), "usr/share/real/file"]
    for target, root in ((outside / "file", "one"), ("/usr/share/real/file", "two")):
        package = deb(tmp_path / "a_1_all.deb", CONTROL, *names, links={name: target})
        if root == "one":
            with pytest.raises(IntegrityError, match=f"no {name}"):
                base.make(tmp_path / root, {"a": package})
        else:
            base.make(tmp_path / root, {"a": package})
    copies = {copy: path for path, copy in base.COPIES.items()}
    if name in copies:
        assert (tmp_path / "two" / copies[name]).read_text() == "usr/share/real/file\n"


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("etc/passwd", "file"),
        ("etc/ssl", ""),
        ("etc/theano-stacks-base", "new"),
        ("usr/share", ""),
        ("usr/share/doc", "doc"),
        ("usr/share/man", "doc"),
        ("var/lib/dpkg", ""),
        ("var/run", "doc"),
    ],
)
def test_a_link_to_this_machine_changes_nothing_there(
    link: str, target: str, tmp_path: Path, outside: Path
) -> None:
    before = content(outside)
    package = deb(tmp_path / "a_1_all.deb", CONTROL, links={link: outside / target})
    made_from(tmp_path, package)
    assert content(outside) == before


def test_files_of_a_package_behind_a_link_of_another_stay_in_the_root(
    tmp_path: Path, outside: Path
) -> None:
    before = content(outside)
    first = deb(tmp_path / "a_1_all.deb", CONTROL, links={"opt/x": outside})
    second = deb(tmp_path / "b_1_all.deb", CONTROL, "opt/x/new")
    root = made_from(tmp_path, first, second)
    assert content(outside) == before
    assert (root / "opt/x").readlink() == Path(f"..{outside}")
    assert (root / str(outside).lstrip("/") / "new").read_text() == "opt/x/new\n"


@pytest.mark.parametrize("names", [("opt/x", "opt/x/y"), ("opt/x/y", "opt/x")])
def test_a_file_and_a_folder_of_one_path(names: tuple[str, str], tmp_path: Path) -> None:
    debs = [
        deb(tmp_path / f"{package}_1_all.deb", CONTROL, name)
        for package, name in zip("ab", names, strict=True)
    ]
    with pytest.raises(IntegrityError, match=r"b_1_all\.deb does not fit .*: opt/x"):
        made_from(tmp_path, *debs)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"etc/x": "passwd"}, {"etc/passwd": "x"}),
        ({"usr/deep/up": "../.."}, {"etc/passwd": "../usr/deep/up/../outside/file"}),
    ],
)
def test_links_of_two_packages_that_lead_out_or_in_a_circle(
    first: dict[str, str], second: dict[str, str], tmp_path: Path
) -> None:
    """Each of them stays inside of its own package."""
    debs = [
        deb(tmp_path / f"{package}_1_all.deb", CONTROL, links=symlinks)
        for package, symlinks in zip("ab", (first, second), strict=True)
    ]
    with pytest.raises(IntegrityError, match=r"etc/passwd is not inside of its root"):
        made_from(tmp_path, *debs)
