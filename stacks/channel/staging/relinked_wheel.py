"""Wheels of NumPy and SciPy, linked to libblas.so.3 in place of the BLAS that they contain.

Their modules call BLAS and LAPACK by the same names and types in every library, so only the name
of the library that they need is changed. What libblas.so.3 lacks, the libraries that it needs have.
That holds for wheels with the 32-bit interface; NumPy's from 1.22 on have the 64-bit one, which no
library of the channel has.
"""

from __future__ import annotations

import re
from pathlib import Path

from stacks.channel.stages import RelinkedWheel
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.dist_info import write_record
from stacks.channel.staging.elf import PATCHELF, elf_files, imported, needed
from stacks.channel.staging.fortran_wheel import overwrite_name, use_libgcc_runtime
from stacks.channel.staging.own_files import copy_own_licences
from stacks.channel.staging.replace_text import replace_once
from stacks.channel.staging.shortened_elf import shorten
from stacks.channel.staging.tree import remove
from stacks.channel.staging.wheel import unpack_wheel
from stacks.core.errors import IntegrityError
from stacks.core.process import call

COMMON_NAME = "libblas.so.3"
# Functions that return a complex number, with gfortran's calling convention in SciPy and another
# one in MKL. MKL puts its symbols before all others when it is loaded, so libblas.so.3 has those
# with gfortran's convention under names that no other library has.
COMPLEX = ("cdotc_", "cdotu_", "zdotc_", "zdotu_", "cladiv_", "zladiv_")
GFORTRAN = {name: name[:-1] + "g" for name in COMPLEX}
# What numpy.show_config() prints, and where numpy.distutils and Theano take linker flags from.
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


def stage(context: BuildContext) -> None:
    """Unpack the recipe's wheel, link its modules to libblas, and leave out what no program needs.

    That is the debug information of its modules, and the recipe's `extra.leave_out`. Raises
    IntegrityError where no module needs `extra.replaces`, or the wheel lacks a file of the recipe.
    """
    extra = context.recipe.extra
    assert isinstance(extra, RelinkedWheel)
    [wheel] = context.files
    dist_info = unpack_wheel(wheel, context.root, extra.site_packages, context.root / "bin")
    modules = [path for path in elf_files(context.root) if extra.replaces in needed(path)]
    if not modules:
        raise IntegrityError(
            f"{wheel.name}: no module needs {extra.replaces}",
            fix="correct `extra.replaces` in the recipe",
        )
    for path in modules:
        _relink(path, extra.replaces, context.scratch / "renames")
    _remove_library(context.root, extra.replaces)
    use_libgcc_runtime(context.root, context.recipe)
    for pattern in extra.leave_out:
        _leave_out(context.root / extra.site_packages, pattern)
    for edit in extra.edits:
        fix = "correct `extra.edits` in the recipe"
        replace_once(context.root / extra.site_packages / edit.file, edit.old, edit.new, fix)
    for path in elf_files(context.root):
        shorten(path)
    for config in sorted((context.root / extra.site_packages).glob("numpy/**/__config__.py")):
        _write_config(config)
    if extra.licences:
        copy_own_licences(context)
    write_record(context.root, dist_info)


def _relink(module: Path, replaced: str, renames: Path) -> None:
    overwrite_name(module, replaced, COMMON_NAME)
    content = module.read_bytes()
    for name, renamed in GFORTRAN.items():
        content = content.replace(b"\0%s\0" % name.encode(), b"\0%s\0" % renamed.encode())
    module.write_bytes(content)
    shared = [name for name in imported(module) if name in GFORTRAN]
    if shared:
        # The linker has stored the name as the end of a longer one only.
        renames.write_text("".join(f"{name} {GFORTRAN[name]}\n" for name in shared))
        call([PATCHELF, "--rename-dynamic-symbols", renames, module])


def _remove_library(root: Path, replaced: str) -> None:
    """Remove the library, and then those in its folder that nothing needs any longer."""
    folders = {path.parent for path in root.rglob(replaced)}
    if len(folders) != 1:
        raise IntegrityError(
            f"the wheel has the library {replaced} {len(folders)} times",
            expected="once",
            fix="correct `extra.replaces` in the recipe",
        )
    [folder] = folders
    (folder / replaced).unlink()
    while True:
        names = {name for path in elf_files(root) for name in needed(path)}
        unused = [path for path in sorted(folder.iterdir()) if path.name not in names]
        for path in unused:
            remove(path)
        if not unused:
            break
    if not any(folder.iterdir()):
        folder.rmdir()


def _leave_out(folder: Path, pattern: str) -> None:
    matches = sorted(folder.glob(pattern))
    if not matches:
        raise IntegrityError(
            f"the wheel has no {pattern}", fix="correct `extra.leave_out` in the recipe"
        )
    for path in matches:
        remove(path)


def _write_config(config: Path) -> None:
    """Replace the sections of a __config__.py by CONFIG."""
    text = config.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not re.match(r"\w+_info ?= ?\{", line)]
    head = next((i for i, line in enumerate(lines) if line.startswith("def ")), len(lines))
    imports = "import os\nimport sys\n"
    body = "\n".join([*lines[:head], imports + CONFIG, *lines[head:]])
    config.write_text(body + "\n", encoding="utf-8")
