"""Wheels of NumPy and SciPy without the BLAS that they carry: linked to libblas.so.3 instead.

Their modules call BLAS and LAPACK by the same names and types whichever library serves them, so
only the name of the library that they need is changed: what libblas.so.3 does not have itself, the
libraries that it needs have. That is so for wheels with the 32-bit interface; NumPy's from 1.22 on
have the 64-bit one, which no library here offers.
"""

from __future__ import annotations

import re
from pathlib import Path

from stacks.command import call
from stacks.errors import IntegrityError
from stacks.recipe import RelinkedWheel
from stacks.staging.elf import PATCHELF, elf_files, imported, needed
from stacks.staging.wheel import unpack_wheel
from stacks.staging.work import Work

COMMON_NAME = "libblas.so.3"
# These return a complex number, which gfortran's functions, and so SciPy's callers, do in another
# way than MKL's. MKL puts its own before all others when it is loaded, so libblas.so.3 offers those
# of gfortran's kind by names that no library has.
COMPLEX = ("cdotc_", "cdotu_", "zdotc_", "zdotu_", "cladiv_", "zladiv_")
GFORTRAN = {name: name[:-1] + "g" for name in COMPLEX}
# What numpy.show_config() tells, and what numpy.distutils and Theano take for linker flags.
CONFIG = """
import glob as _glob
_prefix = getattr(sys, "base_prefix", sys.prefix)
_library = {
    "libraries": ["cblas", "blas"],
    "library_dirs": [os.path.join(_prefix, "lib")],
    "language": "c",
    "define_macros": [("HAVE_CBLAS", None)],
    "package": [
        os.path.basename(name)[: -len(".json")]
        for name in _glob.glob(os.path.join(_prefix, "conda-meta", "libblas-*.json"))
    ],
}
blas_info = blas_opt_info = _library
lapack_info = lapack_opt_info = dict(_library, libraries=["lapack", "cblas", "blas"])
"""


def stage(work: Work) -> None:
    """Unpack the recipe's wheel and link its modules to libblas.

    Raises IntegrityError where no module needs the library that the recipe names.
    """
    extra = work.recipe.extra
    assert isinstance(extra, RelinkedWheel)
    [wheel] = work.files
    unpack_wheel(wheel, work.root, extra.site_packages, work.root / "bin")
    modules = [path for path in elf_files(work.root) if extra.replaces in needed(path)]
    if not modules:
        raise IntegrityError(
            f"{wheel.name}: no module needs {extra.replaces}",
            mend="correct `extra.replaces` in the recipe",
        )
    for path in modules:
        _relink(path, extra.replaces, work.scratch / "renames")
    _drop(work.root, extra.replaces)
    for config in sorted((work.root / extra.site_packages).glob("numpy/**/__config__.py")):
        _tell(config)


def _relink(module: Path, replaced: str, renames: Path) -> None:
    """Write the common name over the longer one of the wheel's library, in place.

    patchelf would add megabytes to each of these old files. The folder of the new library needs
    no mention: the executable's DT_RPATH leads there.
    """
    old = b"\0" + replaced.encode() + b"\0"
    new = (b"\0" + COMMON_NAME.encode()).ljust(len(old), b"\0")
    content = module.read_bytes()
    if content.count(old) != 1 or len(new) != len(old):
        raise IntegrityError(
            f"{module.name}: {replaced} cannot be written over",
            expected="that name once, and longer than the new one",
            found=f"{content.count(old)} times",
            mend="do not use this wheel",
        )
    content = content.replace(old, new)
    for name, ours in GFORTRAN.items():
        content = content.replace(b"\0%s\0" % name.encode(), b"\0%s\0" % ours.encode())
    module.write_bytes(content)
    left = [name for name in imported(module) if name in GFORTRAN]
    if left:
        # The name is the end of a longer one, and the linker has kept it there only.
        renames.write_text("".join(f"{name} {GFORTRAN[name]}\n" for name in left))
        call([PATCHELF, "--rename-dynamic-symbols", renames, module])


def _drop(root: Path, replaced: str) -> None:
    """Remove the library, and then those beside it that nothing needs any more."""
    [library] = root.rglob(replaced)
    folder = library.parent
    library.unlink()
    while True:
        wanted = {name for path in elf_files(root) for name in needed(path)}
        unused = [path for path in sorted(folder.iterdir()) if path.name not in wanted]
        for path in unused:
            path.unlink()
        if not unused:
            break
    if not any(folder.iterdir()):
        folder.rmdir()


def _tell(config: Path) -> None:
    text = config.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not re.match(r"\w+_info ?= ?\{", line)]
    head = next(i for i, line in enumerate(lines) if line.startswith("def "))
    imports = "import os\nimport sys\n"
    body = "\n".join([*lines[:head], imports + CONFIG, *lines[head:]])
    config.write_text(body + "\n", encoding="utf-8")
