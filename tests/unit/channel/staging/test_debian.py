from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import (
    MULTIARCH,
    TEXTS,
    copy_libraries,
    copy_licences,
    unpack_all,
)
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.archives import deb, member
from unit.helpers.staging import deb_context, make_context, tree


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source/usr/lib" / MULTIARCH
    folder.mkdir(parents=True)
    (folder / "liba.so.1.2").write_text("a")
    (folder / "liba.so.1").symlink_to("liba.so.1.2")
    other = tmp_path / "source/lib" / MULTIARCH
    other.mkdir(parents=True)
    (other / "libb.so.2").write_text("b")
    return tmp_path / "source"


def test_libraries_are_copied_with_their_links(source: Path, tmp_path: Path) -> None:
    copy_libraries(source, tmp_path / "lib", ["liba.so.1*", "libb.so.*"])
    assert sorted(p.name for p in (tmp_path / "lib").iterdir()) == [
        "liba.so.1",
        "liba.so.1.2",
        "libb.so.2",
    ]
    assert (tmp_path / "lib/liba.so.1").is_symlink()


def test_a_library_that_no_deb_has_is_an_error(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)no library libc.so.\*.*correct"):
        copy_libraries(source, tmp_path / "lib", ["libc.so.*"])


def test_debs_are_unpacked_and_their_copyright_files_copied(tmp_path: Path) -> None:
    files = {"usr/share/doc/liba/copyright": b"MIT", "usr/bin/a": b""}
    context = deb_context(tmp_path, {"stage": "libraries"}, files)
    source = context.scratch / "debs"
    unpack_all(context, source)
    assert tree(source) == ["usr/bin/a", "usr/share/doc/liba/copyright"]
    copy_licences(source, context)
    assert tree(context.root) == ["share/licenses/a/liba.copyright"]


def debs_context(tmp_path: Path, *names: str, **texts: bytes) -> BuildContext:
    """Return the context of the debs of one source package; libb's folder is a link to liba's.

    texts: the common licences in base-files.
    """
    doc = "./usr/share/doc"
    files = {
        "liba": [(member(f"{doc}/liba/copyright"), b"see /usr/share/common-licenses/GPL-3.\n")],
        "libb": [(member(f"{doc}/libb", tarfile.SYMTYPE, "liba"), b"")],
        "libc": [(member("./usr/bin/c"), b"")],
        "base-files": [
            (member("./etc/debian_version"), b"12"),
            *((member(f"./{TEXTS}/{name.replace('_', '-')}"), t) for name, t in texts.items()),
        ],
    }
    debs = {name: deb(tmp_path / f"{name}.deb", *files[name]) for name in names}
    source = [{"suite": "bookworm", "debs": list(names)}]
    return make_context(tmp_path, {"stage": "libraries"}, source, debs)


def licences(context: BuildContext) -> dict[str, bytes]:
    """Copy the licences, and return the files of the package by name."""
    source = context.scratch / "debs"
    unpack_all(context, source)
    assert not (source / "etc").exists()
    copy_licences(source, context)
    return {path.name: path.read_bytes() for path in context.licences.iterdir()}


def test_debs_of_one_source_have_one_copyright_file_and_the_texts_that_it_names(
    tmp_path: Path,
) -> None:
    context = debs_context(tmp_path, "liba", "libb", "base-files", GPL_3=b"GNU", GPL_2=b"other")
    assert licences(context) == {
        "liba.copyright": b"see /usr/share/common-licenses/GPL-3.\n",
        "GPL-3": b"GNU",
    }


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["libb"], r"(?s)the deb libb has no copyright file.*add liba to the debs of the recipe"),
        (["libc"], r"(?s)the deb libc has no copyright file.*pin another version"),
        (["liba"], r"(?s)refers to the text of GPL-3, which is in no deb.*add base-files"),
        (["liba", "base-files"], r"refers to the text of GPL-3, which is in no deb"),
    ],
)
def test_a_deb_without_its_licence_is_refused(
    tmp_path: Path, names: list[str], message: str
) -> None:
    with pytest.raises(IntegrityError, match=message):
        licences(debs_context(tmp_path, *names))


def test_the_link_of_a_library_to_another_folder_is_refused(source: Path, tmp_path: Path) -> None:
    """The link would lead to another file from the package's lib/."""
    (source / "usr/lib" / MULTIARCH / "libc.so").symlink_to("../../../../secret")
    with pytest.raises(IntegrityError, match=r"(?s)libc\.so: the link of a library.*secret.*fix"):
        copy_libraries(source, tmp_path / "lib", ["libc.so*"])
    assert list((tmp_path / "lib").iterdir()) == []


def test_an_absolute_link_of_a_deb_leads_to_the_debs_own_file(tmp_path: Path) -> None:
    path = deb(
        tmp_path / "liba.deb",
        (member("./etc/conf"), b"of the deb"),
        (member("./usr/lib/conf", tarfile.SYMTYPE, "/etc/conf"), b""),
    )
    recipe = [{"suite": "bullseye", "debs": ["liba"]}]
    context = make_context(tmp_path, {"stage": "libraries"}, recipe, {"liba": path})
    unpack_all(context, tmp_path / "debs")
    assert (tmp_path / "debs/usr/lib/conf").read_bytes() == b"of the deb"
