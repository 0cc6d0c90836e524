"""The stages of Python packages that are no wheels, and what those of Python itself refuse.

tests/integration/test_channel.py tries the Pythons and the compiler, test_reproducible.py all.
"""

import hashlib
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from stacks.channel.staging.binaries import locate
from stacks.channel.staging.debian import MULTIARCH, check_no_folder, chosen
from stacks.channel.staging.elf import PATCHELF, exported, imported, is_dynamic, needed, shorten
from stacks.channel.staging.python_packages import SHEBANG
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import call
from unit.helpers.environments import add
from unit.helpers.staging import Content, Made, elf_library, make, make_context, with_compiler

LIBRARY, DOC = "usr/lib/python3.9", "usr/share/doc/liba/copyright"
EDIT = {"file": "pydoc.py", "old": "'dist-packages'", "new": "'site-packages'"}
FROZEN = {"dist-packages": "site-packages"}
DEBIAN = {"stage": "cpython", "libraries": [], "edits": [EDIT], "frozen": FROZEN}
PYTHON: dict[str, Content] = {
    "usr/bin/python3.9": b"a dist-packages\0",
    f"{LIBRARY}/pydoc.py": EDIT["old"],
    "usr/include/python3.9/Python.h": "",
    f"usr/include/{MULTIARCH}/python3.9/pyconfig.h": "#define A",
    DOC: "PSF",
}


def test_patches_come_in_the_order_of_their_series_and_files_name_no_folder(tmp_path: Path) -> None:
    series = "#off.diff\nlocations.diff\nCVE-2.patch\nCVE-1.patch -p1\n"
    assert chosen(series, ["CVE-1*", "CVE-2*"]) == ["CVE-2.patch", "CVE-1.patch"]
    with pytest.raises(UsageError, match=r"no patch off\* in the source package"):
        chosen(series, ["CVE-*", "off*"])
    (tmp_path / "leak").write_text("prefix=/some/build\n")
    check_no_folder(tmp_path, ["/another/build"], "correct it")
    with pytest.raises(IntegrityError, match="leak names the folder in which it was compiled"):
        check_no_folder(tmp_path, ["/some/build"], "correct it")


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


def python(**files: Content) -> dict[str, Any]:
    """Return a deb with the files that the stage of Python reads, some of them others."""
    others = {"program": "usr/bin/python3.9", "pydoc": f"{LIBRARY}/pydoc.py", "other": "pydoc.py"}
    return {
        "debs": {"liba": {**PYTHON, **{others[name]: text for name, text in files.items()}}},
        "version": "3.9.2",
    }


REFUSED: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "an interpreter with the name twice": (
        DEBIAN, python(program=b"dist-packages\0 dist-packages\0"),
        r"(?s)python3\.9 is not the file.*2 times",
    ),
    "another name that is shorter": (
        {**DEBIAN, "frozen": {"dist-packages": "site"}}, python(), "as long",
    ),
    "a library without the text": (DEBIAN, python(pydoc=""), r"pydoc\.py is not the file"),
    # In the deb the link leads to a file of the deb; in the package, out of the package.
    "a link out of Python's library": (
        DEBIAN, python(pydoc=Path("../../../pydoc.py"), other=EDIT["old"]),
        r"pydoc\.py: the link leads out of the package",
    ),
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
def test_a_python_or_a_python_package_that_is_refused(
    extra: Mapping[str, Any], given: Mapping[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=message):
        make(with_compiler(tmp_path, extra, given))


def test_a_broken_elf_file_is_named_and_gives_no_other_error(tmp_path: Path) -> None:
    generator, refused, path = random.Random(16), 0, tmp_path / "liba.so"
    broken = [b"\x7fELF", b"\x7fELF\2\1\1" + bytes(57), elf_library()[:100]]
    for _ in range(60):
        data = bytearray(elf_library())
        start = generator.randrange(16, 64)
        value = generator.choice((b"\xff" * 8, bytes(8), b"\xff\xff\xff\x7f"))
        data[start : start + len(value)] = value
        broken.append(bytes(data))
    for content in broken:
        for function in (exported, imported, needed, is_dynamic, shorten):
            path.write_bytes(content)
            try:
                function(path)
            except IntegrityError as error:
                assert error.what.startswith("liba.so: a broken ELF file")
                refused += 1
    assert refused > 60


def loaded(path: Path) -> dict[str, tuple[int, bytes]]:
    """Return what the loader puts at which address, by the names of the sections."""
    with path.open("rb") as file:
        found = ELFFile(file)
        # It refuses segments whose addresses do not fit their offsets.
        for segment in found.iter_segments("PT_LOAD"):
            assert (segment["p_offset"] - segment["p_vaddr"]) % segment["p_align"] == 0
        loaded = [each for each in found.iter_sections() if each["sh_flags"] & SH_FLAGS.SHF_ALLOC]
        return {each.name: (each["sh_addr"], each.data()) for each in loaded}


def test_debug_information_is_removed_and_all_else_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    path.write_bytes(elf_library())
    before, size = loaded(path), path.stat().st_size
    shorten(path)
    assert loaded(path) == before and path.stat().st_size < size / 2
    once = path.read_bytes()
    shorten(path)
    assert path.read_bytes() == once


def test_a_shortened_module_that_patchelf_has_rewritten_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "module.so"
    path.write_bytes(elf_library("zstandard.backend_c"))
    call([PATCHELF, "--force-rpath", "--set-rpath", "/a" * 500, path])
    shorten(path)
    call([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(path)!r})"])


# A library that every Python has loaded, and a function of it.
LIBC = Path(
    next(
        line.split()[-1]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "/libc.so" in line or "/libc-2" in line
    )
)
NAME, ROOM = "getppid", 8


def replace(tmp_path: Path, code: bytes, **changes: object) -> bytes:
    """Make a PoCL whose library is the C library, with a compiler that outputs this code."""
    data = LIBC.read_bytes()
    _, offset = locate(LIBC, NAME)
    replaced = {
        "function": NAME,
        "room": ROOM,
        "sha256": hashlib.sha256(data[offset : offset + ROOM]).hexdigest(),
        "calls": {"called": 16},
    }
    context = make_context(
        tmp_path,
        {"stage": "pocl", "gcc": "10", "replaced": replaced | changes},
        wheel={"pyopencl/.libs/libpocl-1.so": data, f"{POCL}/licenses/x": ""},
        src={f"{NAME}.s": "nop\n"},
    )
    (tmp_path / "code").write_bytes(code)
    script = f'#!/bin/sh\necho "$@" > "{tmp_path}/log"\ncp "{tmp_path}/code" code\n'
    add(context.tools, "bin/gcc", script, 0o755)
    return (make(context) / "lib/pocl/pyopencl/.libs/libpocl-1.so").read_bytes()


def test_only_the_function_is_replaced(tmp_path: Path) -> None:
    address, offset = locate(LIBC, NAME)
    before = LIBC.read_bytes()
    new = b"new".ljust(ROOM, b"\xcc")
    assert replace(tmp_path, b"new") == before[:offset] + new + before[offset + ROOM :]
    options = (tmp_path / "log").read_text()
    assert f"-Wl,-Ttext={address:#x}" in options and "-Wl,--defsym,called=0x10" in options


@pytest.mark.parametrize(
    ("code", "changes", "message"),
    [
        (b"new", {"function": "no_such"}, r"libpocl-1\.so has no function no_such"),
        (b"new", {"sha256": "0" * 64}, "getppid is not the function that the recipe replaces"),
        (bytes(9), {}, r"(?s)getppid\.s is longer than .* libpocl-1\.so.*at most 8 bytes"),
    ],
)
def test_a_function_that_cannot_be_replaced(
    code: bytes, changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=message):
        replace(tmp_path, code, **changes)
