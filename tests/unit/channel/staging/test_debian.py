from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from stacks.channel.staging.debian import MULTIARCH, copy_libraries, copy_licences, unpack_all
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
