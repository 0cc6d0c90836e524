"""The locked base: made from debs, never with a file of this machine, and kept in the cache."""

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
MOZILLA = "usr/share/ca-certificates/mozilla"
NSSWITCH = "usr/share/libc-bin/nsswitch.conf"


def deb(path: Path, *names: str, links: Mapping[str, object] = {}) -> Path:
    """Write a deb of files, each with its name as its text, and of links."""
    folders = {str(parent) for name in (*names, *links) for parent in Path(name).parents} - {"."}
    body = tar(
        *((member(f"./{f}", tarfile.DIRTYPE, mode=0o755), b"") for f in sorted(folders)),
        *((member(f"./{name}"), f"{name}\n".encode()) for name in names),
        *((member(f"./{n}", tarfile.SYMTYPE, str(target)), b"") for n, target in links.items()),
    )
    sections = {"control": tar((member("./control"), CONTROL)), "data": body}
    files = [(f"{name}.tar.xz", lzma.compress(data)) for name, data in sections.items()]
    path.write_bytes(ar(("debian-binary", b"2.0\n"), *files))
    return path


def made_from(folder: Path, *debs: Path, without: str = "") -> Path:
    """Make the base from debs in this order, and from one that has what every base needs."""
    needed = deb(folder / "z_1_all.deb", *set(base.COPIES.values()) - {without})
    root = folder / "made" / "root"
    root.parent.mkdir()
    base.make(root, {path.name.partition("_")[0]: path for path in (*debs, needed)})
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Give a folder of the machine that makes the base."""
    folder = tmp_path / "outside"
    (folder / "doc").mkdir(parents=True)
    for name in ("file", "doc/README"):
        (folder / name).write_text("of this machine")
    return folder


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
    }


def test_the_root_has_merged_usr_and_what_maintainer_scripts_would_write(tmp_path: Path) -> None:
    doc = "usr/share/doc/a"
    names = ("bin/dash", "lib/x/libc.so.6", "usr/bin/mawk", f"{doc}/copyright", f"{doc}/changelog")
    certificates = (f"{MOZILLA}/B.crt", f"{MOZILLA}/A.crt")
    package = deb(tmp_path / "a_1_all.deb", *names, "usr/share/man/man1/dash.1.gz", *certificates)
    root = made_from(tmp_path, package)
    assert [path.name for path in root.parent.iterdir()] == ["root"]
    assert (root / "bin").readlink() == Path("usr/bin")
    assert (root / "usr/bin/dash").read_text() == "bin/dash\n"
    assert (root / "usr/lib/x/libc.so.6").is_file()
    assert (root / "usr/bin/awk").readlink() == Path("mawk")
    assert (root / "etc/passwd").read_text() == "usr/share/base-passwd/passwd.master\n"
    bundle = (root / "etc/ssl/certs/ca-certificates.crt").read_text()
    assert bundle == "".join(f"{MOZILLA}/{n}.crt\n" for n in "AB")
    assert (root / "tmp").stat().st_mode & 0o7777 == 0o1777
    # Manuals are left out, copyright files stay, and scanners find the packages.
    assert not (root / "usr/share/man").exists()
    assert [path.name for path in (root / doc).iterdir()] == ["copyright"]
    assert (root / "var/lib/dpkg/status.d/a").read_bytes() == CONTROL


def test_a_damaged_base_is_made_again(workspace: Workspace) -> None:
    made = []

    def write(_: Workspace, target: Path) -> None:
        made.append(target)
        target.write_bytes(b"the base")

    for damage in (b"The base", b"", b"the base"):
        path = base.tar(workspace, write)
        assert path.read_bytes() == b"the base"
        path.write_bytes(damage)
    assert base.tar(workspace, write).read_bytes() == b"the base"
    assert len(made) == 3


def test_the_licences_that_copyright_files_name(workspace: Workspace) -> None:
    first, second = base.pins(workspace)[:2]
    texts = {
        first.name: b"Format: 1.0\nLicense: GPL-2+\n\nLicense: BSD-3\n",
        second.name: b"This is free text. License: whatever\n",
    }

    def write(_: Workspace, target: Path) -> None:
        with tarfile.open(target, "w") as file:
            for name, text in texts.items():
                entry = tarfile.TarInfo(f"usr/share/doc/{name}/copyright")
                entry.size = len(text)
                file.addfile(entry, io.BytesIO(text))

    base.tar(workspace, write)
    found = base.licences(workspace)
    assert (found[first], found[second]) == (("BSD-3", "GPL-2+"), ())


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("etc/passwd", "file"),
        ("etc/ssl", ""),
        ("etc/theano-stacks-base", "new"),
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
    made_from(tmp_path, deb(tmp_path / "a_1_all.deb", links={link: outside / target}))
    assert content(outside) == before


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("opt/x", "opt/x/y", r"b_1_all\.deb does not fit .*: opt/x: a file is in the place of"),
        ("opt/x/y", "opt/x", r"b_1_all\.deb does not fit .*: opt/x: a folder has the same path"),
        ({"opt/x": "OUTSIDE"}, "opt/x/new", r"opt/x: a link is in the place of a folder"),
        # Each of them stays inside of its own package.
        ({"etc/x": "passwd"}, {"etc/passwd": "x"}, "leads out of it, or in a circle"),
        (
            {"usr/deep/up": "../.."},
            {"etc/passwd": "../usr/deep/up/../outside/file"},
            "etc/passwd leads out of it",
        ),
        # A file that the base needs, as a link to one of this machine.
        ({NSSWITCH: "OUTSIDE/file"}, "opt/x", f"its packages have no {NSSWITCH}"),
        ({f"{MOZILLA}/A.crt": "OUTSIDE/file"}, "opt/x", rf"have no {MOZILLA}/A\.crt"),
    ],
)
def test_packages_that_do_not_fit(
    first: str | dict[str, str],
    second: str | dict[str, str],
    message: str,
    tmp_path: Path,
    outside: Path,
) -> None:
    before, debs = content(outside), []
    for name, what in (("a", first), ("b", second)):
        links = {} if isinstance(what, str) else what
        links = {n: link.replace("OUTSIDE", str(outside)) for n, link in links.items()}
        names = [what] if isinstance(what, str) else []
        debs.append(deb(tmp_path / f"{name}_1_all.deb", *names, links=links))
    with pytest.raises(IntegrityError, match=message):
        made_from(tmp_path, *debs, without=NSSWITCH if NSSWITCH in first else "")
    assert content(outside) == before


def test_an_absolute_link_names_a_file_of_the_root(tmp_path: Path) -> None:
    package = deb(tmp_path / "a_1_all.deb", "usr/share/real", links={NSSWITCH: "/usr/share/real"})
    root = made_from(tmp_path, package, without=NSSWITCH)
    assert (root / "etc/nsswitch.conf").read_text() == "usr/share/real\n"
