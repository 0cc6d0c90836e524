from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import tarfile
from pathlib import Path

import pytest

from stacks.channel.staging import debian_files
from stacks.channel.staging.elf import PATCHELF
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import call
from unit.helpers.archives import deb, member
from unit.helpers.staging import deb_context, elf_library, make_context, tree

METADATA = b"Metadata-Version: 1.0\nName: pygpu\nVersion: 0.7\n"
EXTRA = {
    "stage": "debian-files",
    "files": {"usr/pygpu*": "lib/site"},
    "left_out": ["tests", "*.c"],
    "links": {"liba.so": "liba.so.1"},
    "search": ["lib", "lib/site"],
}


def test_folders_are_copied_without_the_files_to_leave_out(tmp_path: Path) -> None:
    names = ("pygpu/a.py", "pygpu/a.c", "pygpu/tests/t.py", "other/b.py")
    files = {f"usr/{name}": b"" for name in names} | {"usr/pygpu/a.so": elf_library()}
    files["usr/share/doc/liba/copyright"] = b"ISC"
    context = deb_context(tmp_path, EXTRA, files)
    debian_files.stage(context)
    assert tree(context.root) == [
        "lib/liba.so",
        "lib/site/pygpu/a.py",
        "lib/site/pygpu/a.so",
        "share/licenses/a/liba.copyright",
    ]
    rpath = call([PATCHELF, "--print-rpath", context.root / "lib/site/pygpu/a.so"])
    assert rpath.strip() == "$ORIGIN/../..:$ORIGIN/.."


def test_a_pattern_without_a_match_is_an_error(tmp_path: Path) -> None:
    context = deb_context(tmp_path, EXTRA, {"usr/other": b""})
    with pytest.raises(UsageError, match=r"no usr/pygpu\* in the recipe's debs"):
        debian_files.stage(context)


def test_a_link_out_of_the_package_is_refused(tmp_path: Path) -> None:
    """Inside of the deb it leads to a file of the deb."""
    path = deb(
        tmp_path / "liba.deb",
        (member("./usr/lib/pygpu/a.py", tarfile.SYMTYPE, "../../../a/b/c"), b""),
        (member("./a/b/c"), b""),
        (member("./usr/lib/pygpu/circle", tarfile.SYMTYPE, "."), b""),
    )
    recipe = [{"suite": "bullseye", "debs": ["liba"]}]
    extra = EXTRA | {"files": {"usr/lib/pygpu*": "lib"}}
    context = make_context(tmp_path, extra, recipe, {"liba": path})
    with pytest.raises(IntegrityError, match=r"pygpu/a\.py: the link leads out of the package"):
        debian_files.stage(context)


def test_a_python_package_gets_a_dist_info(tmp_path: Path) -> None:
    files = {"usr/pygpu/a.so": elf_library(), "usr/pygpu-0.7.egg-info/PKG-INFO": METADATA}
    files["usr/share/doc/liba/copyright"] = b"ISC"
    context = deb_context(tmp_path, EXTRA, files)
    debian_files.stage(context)
    [distribution] = importlib.metadata.distributions(path=[str(context.root / "lib/site")])
    assert distribution.metadata["Name"] == "pygpu"
    [module] = [file for file in distribution.files or () if file.name == "a.so"]
    # As it is after its RPATH is set.
    digest = hashlib.sha256(Path(str(module.locate())).read_bytes()).digest()
    assert module.hash and base64.urlsafe_b64decode(module.hash.value + "=") == digest
