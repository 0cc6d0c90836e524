"""The stages of Python's modules, of PoCL and of texts: what they make, and what they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from stacks.channel.staging import Extra
from stacks.channel.staging.python_packages import SHEBANG, Wheel
from stacks.channel.staging.stage import Stage
from stacks.channel.staging.tree import copy_tree, remove
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.staging import Made, elf_library, make, tree, with_compiler

DOC = "usr/share/doc/liba/copyright"
PKG_INFO = "Metadata-Version: 1.1\nName: A.b-C\nVersion: 1\n"
POCL = "pocl_binary_distribution/.libs/share/pocl"
EGG = "Metadata-Version: 1.0\nName: pygpu\nVersion: 0.7\n"
FILES = {
    "stage": "debian-files",
    "files": {"usr/pygpu*": "lib/site"},
    "left_out": ["tests", "*.c"],
    "links": {"liba.so": "liba.so.1"},
    "search": ["lib", "lib/site"],
}
SDIST = {"stage": "sdist", "package": "a", "distribution": "A", "scripts": {"t": "bin/tool"}}
EDIT = {"file": "a/b.py", "old": "x = ()", "new": "x = None"}
EDITED = {"stage": "edited-sdist", "package": "a", "distribution": "A", "edits": [EDIT]}

ROWS = {
    "folders of debs without the files to leave out": Made(
        FILES,
        {"debs": {"liba": {
            "usr/pygpu/a.py": "", "usr/pygpu/a.c": "", "usr/pygpu/tests/t.py": "",
            "usr/other/b.py": "", "usr/pygpu/a.so": elf_library(), DOC: "ISC",
        }}},
        "lib/liba.so lib/site/pygpu/a.py lib/site/pygpu/a.so share/licenses/a/liba.copyright",
        rpaths={"lib/site/pygpu/a.so": "$ORIGIN/../..:$ORIGIN/.."},
    ),
    "a Python package of debs gets a dist-info": Made(
        FILES,
        {"debs": {"liba": {
            "usr/pygpu/a.so": elf_library(), DOC: "ISC", "usr/pygpu-0.7.egg-info/PKG-INFO": EGG,
            "usr/pygpu-0.7.egg-info/top_level.txt": "pygpu",
            "usr/pygpu-0.7.egg-info/dependency_links.txt": "",
        }}},
        "lib/liba.so lib/site/pygpu-0.7.dist-info/INSTALLER lib/site/pygpu-0.7.dist-info/METADATA"
        " lib/site/pygpu-0.7.dist-info/RECORD lib/site/pygpu-0.7.dist-info/top_level.txt"
        " lib/site/pygpu/a.so share/licenses/a/liba.copyright",
        texts={"lib/site/pygpu-0.7.dist-info/METADATA": [EGG]},
    ),
    "an egg-info that is a file, too": Made(
        FILES,
        {"debs": {"liba": {"usr/pygpu-0.7.egg-info": EGG, "usr/lib/x": "", DOC: "ISC"}}},
        "lib/liba.so lib/site/pygpu-0.7.dist-info/INSTALLER lib/site/pygpu-0.7.dist-info/METADATA"
        " lib/site/pygpu-0.7.dist-info/RECORD share/licenses/a/liba.copyright",
    ),
    "PoCL is registered, and has a linker with the compiler's sysroot": Made(
        {"stage": "pocl", "gcc": "10"},
        {"wheel": {"pyopencl/.libs/libpocl-1.so": "", f"{POCL}/licenses/POCL.COPYING": "MIT"}},
        "bin/x86_64-unknown-linux-gnu-ld etc/OpenCL/vendors/pocl.icd"
        " lib/pocl/a-1.dist-info/INSTALLER lib/pocl/a-1.dist-info/METADATA"
        f" lib/pocl/a-1.dist-info/RECORD lib/pocl/{POCL}/licenses/POCL.COPYING"
        " lib/pocl/pyopencl/.libs/libpocl-1.so share/licenses/a/POCL.COPYING",
        texts={
            "bin/x86_64-unknown-linux-gnu-ld": ['--sysroot="$sysroot"', "x86_64-linux-gnu/10"],
            "etc/OpenCL/vendors/pocl.icd": ["libpocl-1.so\n"],
            "lib/pocl/a-1.dist-info/RECORD": ["\n../../etc/OpenCL/vendors/pocl.icd,sha256="],
        },
    ),
    "the project's modules": Made(
        {"stage": "python-modules"},
        {"src": {
            "a.py": "import b\n", "a.pth": "", "LICENSE-a": "BSD",
            "a.pyc": "", "__pycache__/a.cpython-39.pyc": "",
        }},
        "share/licenses/a/LICENSE-a site-packages/a-1.dist-info/INSTALLER"
        " site-packages/a-1.dist-info/METADATA site-packages/a-1.dist-info/RECORD"
        " site-packages/a.pth site-packages/a.py",
        texts={
            "site-packages/a.py": ["import b\n"],
            "site-packages/a-1.dist-info/METADATA": ["Name: a\nVersion: 1\nSummary: a\n"],
            "site-packages/a-1.dist-info/RECORD": ["../../../share/licenses/a/LICENSE-a,sha256="],
        },
    ),
    "a package out of a source archive": Made(
        SDIST,
        {"sdist": {
            "A-1/a/b.py": "", "A-1/bin/tool": "#!/usr/bin/env python\nprint(1)\n",
            "A-1/PKG-INFO": PKG_INFO, "A-1/LICENSE.txt": "", "A-1/setup.py": "",
        }},
        "python-scripts/t share/licenses/a/LICENSE.txt site-packages/a/b.py"
        " site-packages/a_b_c-1.dist-info/INSTALLER site-packages/a_b_c-1.dist-info/METADATA"
        " site-packages/a_b_c-1.dist-info/RECORD",
        texts={"python-scripts/t": [f"{SHEBANG}print(1)\n"]},
    ),
    "the same with corrections, of which the record has the bytes": Made(
        EDITED,
        {"sdist": {"A-1/a/b.py": "x = ()\n", "A-1/PKG-INFO": PKG_INFO}},
        "site-packages/a/b.py site-packages/a_b_c-1.dist-info/INSTALLER"
        " site-packages/a_b_c-1.dist-info/METADATA site-packages/a_b_c-1.dist-info/RECORD",
        texts={
            "site-packages/a/b.py": ["x = None\n"],
            "site-packages/a_b_c-1.dist-info/RECORD": ["a/b.py,sha256=", ",9\n"],
        },
    ),
    "texts": Made(
        {"stage": "texts", "files": {"etc/a": "x\n", "b/é.py": "naïve = 1\n"}, "placeholder": "/p"},
        {},
        "b/é.py etc/a",
        texts={"b/é.py": ["naïve = 1\n"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_a_stage_makes(row: Made, tmp_path: Path) -> None:
    row.check(tmp_path)


REFUSED: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "a pattern without a match": (
        FILES, {"debs": {"liba": {"usr/other": ""}}}, r"no usr/pygpu\* in the recipe's debs",
    ),
    # Inside of the deb it leads to a file of the deb.
    "a link out of the package": (
        {**FILES, "files": {"usr/lib/pygpu*": "lib"}},
        {"debs": {"liba": {
            "usr/lib/pygpu/a.py": Path("../../../a/b/c"), "a/b/c": "", "usr/lib/pygpu/x": Path()
        }}},
        r"pygpu/a\.py: the link leads out of the package",
    ),
    "two Python packages in one": (
        FILES, {"debs": {"liba": {"usr/pygpu/a-1.egg-info": EGG, "usr/pygpu/b-1.egg-info": EGG}}},
        r"(?s)a: the package has more than one.* a-1\.egg-info, b-1\.egg-info",
    ),
    "an egg-info without metadata": (
        FILES, {"debs": {"liba": {"usr/pygpu/a-1.egg-info/x": ""}}},
        "a: the package's metadata is broken",
    ),
    "a PoCL of another layout": (
        {"stage": "pocl", "gcc": "10"}, {"wheel": {"pyopencl/.libs/libpocl-1.so": ""}},
        "has another layout",
    ),
    "a text to correct that is not there": (
        {**EDITED, "edits": [{**EDIT, "old": "y = ()"}]},
        {"sdist": {"A-1/a/b.py": "x = ()\n", "A-1/PKG-INFO": PKG_INFO}},
        r"(?s)b\.py is not the file that the recipe was written for.*0 times",
    ),
    "a text to correct that is there twice": (
        EDITED, {"sdist": {"A-1/a/b.py": "x = ()\nx = ()\n", "A-1/PKG-INFO": PKG_INFO}},
        r"(?s)b\.py is not the file that the recipe was written for.*2 times",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("extra", "given", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_stage_refuses(
    extra: Mapping[str, Any], given: Mapping[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises((IntegrityError, UsageError), match=message):
        make(with_compiler(tmp_path, extra, given))


def test_each_stage_is_a_class_of_its_own_name() -> None:
    union, _ = get_args(Extra)
    classes = get_args(union)
    names = [get_args(each.model_fields["stage"].annotation)[0] for each in classes]
    assert len(set(names)) == len(names) == 21
    assert all(issubclass(each, Stage) and each.write is not Stage.write for each in classes)
    adapter: TypeAdapter[object] = TypeAdapter(Extra)
    assert adapter.validate_python({"stage": "wheel"}) == Wheel(stage="wheel")
    with pytest.raises(ValidationError, match="libraries"):
        adapter.validate_python({"stage": "wheel", "libraries": []})


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").touch()
    (folder / "link").symlink_to("../outside")
    for name in ("link", "file", "missing"):
        remove(folder / name)
    assert list(folder.iterdir()) == []
    (folder / "link").symlink_to("../outside")
    remove(folder)
    assert tree(tmp_path) == ["outside/file"]


def test_a_folder_is_copied_with_its_links_and_without_what_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "a/tests").mkdir(parents=True)
    (source / "a/tests/test.py").touch()
    (source / "a/tool").write_text("tool")
    (source / "a/tool").chmod(0o755)
    (source / "a/up").symlink_to("..")
    (source / "a/x.c").touch()
    (source / "dangling").symlink_to("gone")
    copy_tree(source, tmp_path / "new/target", ["tests", "*.c"])
    assert tree(tmp_path / "new/target") == ["a/tool", "dangling"]
    assert (tmp_path / "new/target/a/up").readlink() == Path("..")
    assert (tmp_path / "new/target/a/tool").stat().st_mode & 0o777 == 0o755
