"""Wheels of NumPy and SciPy, linked to libblas.so.3 in place of the BLAS that they contain.

Their modules call BLAS and LAPACK by the same names and types in every library, so only the name
of the library that they need is changed, and SciPy's prefix of the functions' names is left out.
What libblas.so.3 lacks, the libraries that it needs have. NumPy's wheels from 1.22 on call other
functions, with 64-bit integers: the package blas-64 has these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from pathlib import Path

from stacks.channel.stages import RelinkedWheel
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import unpack_all
from stacks.channel.staging.dist_info import write_record
from stacks.channel.staging.elf import PATCHELF, elf_files, exported, imported, needed
from stacks.channel.staging.fortran_wheel import overwrite_name, use_libgcc_runtime
from stacks.channel.staging.own_files import copy_own_licences
from stacks.channel.staging.replace_text import replace_once
from stacks.channel.staging.shortened_elf import shorten
from stacks.channel.staging.tree import remove
from stacks.channel.staging.wheel import unpack_wheel
from stacks.core.errors import IntegrityError
from stacks.core.process import call

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
# A section of the same as Meson writes it: what stands in it of a version and folders goes.
MESON = re.compile(
    r'(?P<name>"name": )"scipy-openblas",\n(?P<found> *"found": .*\n)(?:.*\n)*?'
    r'(?P<rest> *(?:"has ilp64"|\}))'
)


def stage(context: BuildContext) -> None:
    """Unpack the recipe's wheel, link its modules to libblas, and leave out what no program needs.

    That is the debug information of its modules, and the recipe's `extra.leave_out`. Raises
    IntegrityError where no module needs `extra.replaces`, the wheel lacks a file of the recipe, or
    the libraries of the recipe's debs lack a function.
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
    library = _library(context.root, extra.replaces)
    functions = set(exported(library))
    called: set[str] = set()
    for path in modules:
        names = {name: _renamed(name, extra.prefix) for name in functions & set(imported(path))}
        _relink(path, extra, names, context.scratch / "renames")
        called.update(names.values())
    if context.debs:
        _check_functions(context, called)
    _remove_library(context.root, library)
    use_libgcc_runtime(context.root, context.recipe)
    for pattern in extra.leave_out:
        _leave_out(context.root / extra.site_packages, pattern)
    for edit in extra.edits:
        fix = "correct `extra.edits` in the recipe"
        replace_once(context.root / extra.site_packages / edit.file, edit.old, edit.new, fix)
    for path in elf_files(context.root):
        shorten(path)
    for config in sorted((context.root / extra.site_packages).glob("**/__config__.py")):
        _write_config(config)
    if extra.licences:
        copy_own_licences(context)
    write_record(context.root, dist_info)


def _renamed(function: str, prefix: str) -> str:
    name = function.removeprefix(prefix)
    return GFORTRAN.get(name, name)


def _relink(module: Path, extra: RelinkedWheel, names: Mapping[str, str], renames: Path) -> None:
    """Have a module need another library, and call functions by other names."""
    overwrite_name(module, extra.replaces, extra.library)
    content = module.read_bytes()
    for name, renamed in names.items():
        if len(name) == len(renamed):
            content = content.replace(b"\0%s\0" % name.encode(), b"\0%s\0" % renamed.encode())
    module.write_bytes(content)
    # Another length; or the linker has stored the name as the end of a longer one only.
    rest = [name for name in imported(module) if names.get(name, name) != name]
    if rest:
        renames.write_text("".join(f"{name} {names[name]}\n" for name in rest))
        call([PATCHELF, "--rename-dynamic-symbols", renames, module])


def _check_functions(context: BuildContext, called: Set[str]) -> None:
    """Raise IntegrityError for a function that the libraries of the recipe's debs lack.

    They are the reference BLAS and LAPACK. Those of every flavour have their functions, and the
    renamed ones.
    """
    folder = context.scratch / "reference"
    unpack_all(context, folder)
    reference = {name for path in elf_files(folder) for name in exported(path)}
    missing = sorted(called - reference - set(GFORTRAN.values()))
    if missing:
        raise IntegrityError(
            f"its modules call {', '.join(missing)}",
            expected=f"functions of {', '.join(context.debs)}, which every flavour has",
            fix="pin an older wheel, or newer debs and libraries",
        )


def _library(root: Path, name: str) -> Path:
    """Return the path of the library that is replaced."""
    paths = sorted(root.rglob(name))
    if len(paths) != 1:
        raise IntegrityError(
            f"the wheel has the library {name} {len(paths)} times",
            expected="once",
            fix="correct `extra.replaces` in the recipe",
        )
    return paths[0]


def _remove_library(root: Path, library: Path) -> None:
    """Remove the library, and then those in its folder that nothing needs any longer."""
    folder = library.parent
    library.unlink()
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
    """Have a __config__.py name libblas, in the sections of numpy.distutils or in Meson's."""
    text = config.read_text(encoding="utf-8")
    changed = MESON.sub(r'\g<name>"libblas",\n\g<found>\g<rest>', text)
    if changed == text:
        lines = [line for line in text.splitlines() if not re.match(r"\w+_info ?= ?\{", line)]
        head = next((i for i, line in enumerate(lines) if line.startswith("def ")), len(lines))
        imports = "import os\nimport sys\n"
        changed = "\n".join([*lines[:head], imports + CONFIG, *lines[head:]]) + "\n"
    config.write_text(changed, encoding="utf-8")
