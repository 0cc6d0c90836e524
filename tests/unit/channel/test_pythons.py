"""The stages of Debian's Python, its compiler and Python packages, on few files for the real ones.

Python from sources is compiled in tests/integration/test_reproducible.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH, check_no_folder, chosen
from stacks.channel.staging.python_packages import SHEBANG
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.staging import Content, Made, elf_library, make, make_context, tree, with_compiler

LIBRARY = "usr/lib/python3.9"
EDIT = {"file": "pydoc.py", "old": "'dist-packages'", "new": "'site-packages'"}
DEBIAN = {
    "stage": "cpython",
    "libraries": [],
    "edits": [EDIT],
    "frozen": {"dist-packages": "site-packages"},
}
SYSCONFIG = """\
build_time_vars = {'CC': 'x86_64-linux-gnu-gcc -pthread', 'prefix': '/usr',
 'LIBDIR': '/usr/lib', 'LIBPL': '/usr/lib/python3.9/config-3.9-x86_64-linux-gnu',
 'CFLAGS': '-g -ffile-prefix-map=/build/python-1=. -O2', 'N': 1,
 'CONFIG_ARGS': '--prefix=/usr --x', 'OTHER': '/opt/usr/lib /usr/local'}
"""
SYSCONFIG_AFTER = {
    "CC": "gcc -pthread",
    "prefix": "/a b",
    "LIBDIR": "/a b/lib",
    "LIBPL": "/a b/lib/python3.9/config-3.9-x86_64-linux-gnu",
    "CFLAGS": "-g -O2",
    "N": 1,
    "CONFIG_ARGS": "--prefix=/a b --x",
    "OTHER": "/opt/usr/lib /usr/local",
}


def debian_python(tmp_path: Path, files: Mapping[str, Content], **options: object) -> BuildContext:
    """Return the context of a Python deb with the files that the stage reads, and these.

    A link takes the place of the files below it. options: of the stage.
    """
    base: dict[str, Content] = {
        "usr/bin/python3.9": b"a dist-packages\0",
        f"{LIBRARY}/site.py": "",
        f"{LIBRARY}/pydoc.py": EDIT["old"],
        f"{LIBRARY}/lib-dynload/nis.so": "",
        f"{LIBRARY}/_sysconfigdata_x.py": SYSCONFIG,
        "usr/include/python3.9/Python.h": "",
        f"usr/include/{MULTIARCH}/python3.9/pyconfig.h": "#define A",
        "usr/share/doc/liba/copyright": "PSF",
    }
    links = tuple(name for name, content in files.items() if isinstance(content, Path))
    kept = {name: content for name, content in base.items() if not name.startswith(links or "/")}
    debs = {"liba": {**kept, **files}}
    return make_context(tmp_path, {**DEBIAN, **options}, debs=debs, version="3.9.2")


def test_debians_python_is_relocated_without_debians_own_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, Content] = {
        f"{LIBRARY}/sitecustomize.py": Path("/etc/python3.9/sitecustomize.py"),
        f"{LIBRARY}/config": Path("../gone"),
        f"{LIBRARY}/test/a.py": "",
        f"{LIBRARY}/a.pyc": "",
        f"{LIBRARY}/config-3.9/libpython3.9.a": "",
        f"{LIBRARY}/config-3.9/Makefile": "",
    }
    root = make(debian_python(tmp_path, files))
    assert " ".join(tree(root)) == (
        "bin/python bin/python3 bin/python3.9 include/python3.9/Python.h "
        "include/python3.9/pyconfig.h lib/python3.9/_sysconfigdata_x.py "
        "lib/python3.9/config-3.9/Makefile lib/python3.9/pydoc.py "
        "lib/python3.9/site-packages/README.txt lib/python3.9/site.py "
        "share/licenses/a/liba.copyright"
    )
    assert (root / "lib/python3.9/pydoc.py").read_text() == EDIT["new"]
    assert (root / "bin/python3.9").read_bytes() == b"a site-packages\0"
    assert (root / "include/python3.9/pyconfig.h").read_text() == "#define A"
    monkeypatch.setattr("sys.base_prefix", "/a b")
    variables: dict[str, dict[str, object]] = {}
    exec((root / "lib/python3.9/_sysconfigdata_x.py").read_text(), variables)
    assert variables["build_time_vars"] == SYSCONFIG_AFTER


TWICE = b"dist-packages\0 dist-packages\0"


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({"usr/bin/python3.9": TWICE}, {}, r"(?s)python3\.9 is not the file.*2 times"),
        ({}, {"frozen": {"dist-packages": "site"}}, "as long"),
        ({f"{LIBRARY}/pydoc.py": ""}, {}, r"pydoc\.py is not the file"),
        # In the deb the link leads to a file of the deb; in the package, out of the package.
        (
            {f"{LIBRARY}/pydoc.py": Path("../../../pydoc.py"), "pydoc.py": EDIT["old"]},
            {},
            r"pydoc\.py: the link leads out of the package",
        ),
    ],
)
def test_another_python_than_the_recipes_is_refused(
    files: dict[str, Content], options: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=message):
        make(debian_python(tmp_path, files, **options))


def test_patches_come_in_the_order_of_their_series_and_files_name_no_folder(tmp_path: Path) -> None:
    series = "#off.diff\nlocations.diff\nCVE-2.patch\nCVE-1.patch -p1\n"
    assert chosen(series, ["CVE-1*", "CVE-2*"]) == ["CVE-2.patch", "CVE-1.patch"]
    with pytest.raises(UsageError, match=r"no patch off\* in the source package"):
        chosen(series, ["CVE-*", "off*"])
    (tmp_path / "leak").write_text("prefix=/some/build\n")
    check_no_folder(tmp_path, ["/another/build"], "correct it")
    with pytest.raises(IntegrityError, match="leak names the folder in which it was compiled"):
        check_no_folder(tmp_path, ["/some/build"], "correct it")


GCC = f"usr/lib/gcc/{MULTIARCH}/10"


def compiler_root(tmp_path: Path, links: Mapping[str, str]) -> Path:
    """Make a compiler of empty files with links, and return its sysroot."""
    names = [f"usr/bin/{MULTIARCH}-g++-10", f"{GCC}/cc1plus", f"lib/{MULTIARCH}/libc.so.6"]
    names += ["usr/share/doc/liba/copyright", f"{GCC}/lto1", f"lib/{MULTIARCH}/libz.so.1"]
    names += [f"usr/lib/{MULTIARCH}/libc_nonshared.a", f"usr/lib/{MULTIARCH}/libm.a"]
    files: dict[str, Content] = dict.fromkeys(names, "")
    files |= {name: Path(target) for name, target in links.items()}
    extra = {"stage": "compiler", "gcc": "10"}
    return make(make_context(tmp_path, extra, debs={"liba": files})) / "lib/gxx-sysroot"


def test_a_compiler_has_a_sysroot_whose_links_stay_in_it(tmp_path: Path) -> None:
    library = f"usr/lib/{MULTIARCH}"
    links = {f"{library}/libc.so": f"/lib/{MULTIARCH}/libc.so.6", f"{library}/lto.so": "left-out"}
    root = compiler_root(tmp_path, links)
    files = [path for path in tree(root) if not path.startswith("usr/bin/")]
    assert files == [
        f"lib/{MULTIARCH}/libc.so.6",
        f"{GCC}/cc1plus",
        f"{library}/libc.so",
        f"{library}/libc_nonshared.a",
        # Where the compiler's own programs look.
        f"{library}/libz.so.1",
    ]
    assert str((root / library / "libc.so").readlink()) == f"../../../lib/{MULTIARCH}/libc.so.6"
    assert tree(root.parents[1]) >= ["bin/ar", "bin/as", "bin/g++", "bin/gcc", "bin/ld"]
    assert (root.parents[1] / "share/licenses/a/liba.copyright").is_file()


DOC = "usr/share/doc/liba/copyright"
PKG_INFO = "Metadata-Version: 1.1\nName: A.b-C\nVersion: 1\n"
EGG = "Metadata-Version: 1.0\nName: pygpu\nVersion: 0.7\n"
CORRECTED = {"file": "a/b.py", "old": "x = ()", "new": "x = None"}
SDIST = {"stage": "edited-sdist", "package": "a", "distribution": "A", "edits": [CORRECTED]}
POCL = "pocl_binary_distribution/.libs/share/pocl"
FILES = {
    "stage": "debian-files",
    "files": {"usr/pygpu*": "lib/site"},
    "links": {"liba.so": "liba.so.1"},
    "search": ["lib", "lib/site"],
}

PACKAGES = {
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
    "a corrected package out of a source archive": Made(
        {**SDIST, "scripts": {"t": "bin/tool"}},
        {"sdist": {
            "A-1/a/b.py": "x = ()\n", "A-1/bin/tool": "#!/usr/bin/env python\nprint(1)\n",
            "A-1/PKG-INFO": PKG_INFO, "A-1/LICENSE.txt": "", "A-1/setup.py": "",
        }},
        "python-scripts/t share/licenses/a/LICENSE.txt site-packages/a/b.py"
        " site-packages/a_b_c-1.dist-info/INSTALLER site-packages/a_b_c-1.dist-info/METADATA"
        " site-packages/a_b_c-1.dist-info/RECORD",
        texts={
            "python-scripts/t": [f"{SHEBANG}print(1)\n"],
            "site-packages/a/b.py": ["x = None\n"],
            "site-packages/a_b_c-1.dist-info/RECORD": ["a/b.py,sha256=", ",9\n"],
        },
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
}  # fmt: skip


@pytest.mark.parametrize("row", PACKAGES.values(), ids=PACKAGES)
def test_a_python_package(row: Made, tmp_path: Path) -> None:
    row.check(tmp_path)


REFUSED: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "two Python packages in one": (
        FILES, {"debs": {"liba": {"usr/pygpu/a-1.egg-info": EGG, "usr/pygpu/b-1.egg-info": EGG}}},
        r"(?s)a: the package has more than one.* a-1\.egg-info, b-1\.egg-info",
    ),
    "an egg-info without metadata": (
        FILES, {"debs": {"liba": {"usr/pygpu/a-1.egg-info/x": ""}}},
        "a: the package's metadata is broken",
    ),
    "a text to correct that is not there": (
        {**SDIST, "edits": [{**CORRECTED, "old": "y = ()"}]},
        {"sdist": {"A-1/a/b.py": "x = ()\n", "A-1/PKG-INFO": PKG_INFO}},
        r"(?s)b\.py is not the file that the recipe was written for.*0 times",
    ),
    "a text to correct that is there twice": (
        SDIST, {"sdist": {"A-1/a/b.py": "x = ()\nx = ()\n", "A-1/PKG-INFO": PKG_INFO}},
        r"(?s)b\.py is not the file that the recipe was written for.*2 times",
    ),
    "a PoCL of another layout": (
        {"stage": "pocl", "gcc": "10"}, {"wheel": {f"{POCL}/licenses/x": ""}},
        r"(?s)whl: pyopencl/\.libs/libpocl-\*\.so.*exactly one.*none",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("extra", "given", "message"), REFUSED.values(), ids=REFUSED)
def test_a_python_package_that_is_refused(
    extra: Mapping[str, Any], given: Mapping[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=message):
        make(with_compiler(tmp_path, extra, given))
