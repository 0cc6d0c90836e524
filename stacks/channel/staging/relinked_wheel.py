"""Wheels of NumPy and SciPy, linked to libblas.so.3 in place of the BLAS that they contain.

Their modules call BLAS and LAPACK by the same names and types in every library, so only the name
of the library that they need is changed, and SciPy's prefix of the functions' names is left out.
What libblas.so.3 lacks, the libraries that it needs have. NumPy's wheels from 1.22 on call other
functions, with 64-bit integers: the package blas-64 has these.
"""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path
from typing import Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext, Header
from stacks.channel.staging.debian import unpack_debs
from stacks.channel.staging.elf import (
    elf_files,
    exported,
    imported,
    needed,
    overwrite_need,
    rename_symbols,
    shorten,
)
from stacks.channel.staging.python_packages import Wheel, use_libgcc_runtime
from stacks.channel.staging.stage import Edit
from stacks.channel.staging.tree import matches, only, remove
from stacks.core.errors import IntegrityError
from stacks.core.models import FileName, RelativePath

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


class RelinkedWheel(Wheel):
    """A wheel whose modules call the libblas of the environment."""

    stage: Literal["relinked-wheel"]  # type: ignore[assignment]
    replaces: FileName = Field(description="the BLAS library in the wheel")
    library: FileName = Field(
        default="libblas.so.3", description="the library that its modules need in place of that"
    )
    prefix: str = Field(
        default="",
        pattern=r"^[a-z_]*$",
        description="what the names of that library begin with, and lose",
    )
    leave_out: tuple[RelativePath, ...] = Field(
        default=(), strict=False, description="patterns below site_packages: the wheel's own tests"
    )
    edits: tuple[Edit, ...] = Field(
        default=(), strict=False, description="corrections for a current BLAS"
    )
    licences: tuple[FileName, ...] = Field(
        default=(), strict=False, description="files of src/: licences that the wheel lacks"
    )

    def project_files(self, recipe: Header) -> list[Path]:
        """Return the licences that the wheel lacks: all versions of a package share the folder."""
        return sorted(recipe.src / name for name in self.licences)

    def write(self, context: BuildContext) -> Path:
        """Unpack the wheel, link its modules to libblas, and leave out what no program needs.

        That is the debug information of its modules, and the option `leave_out`. Raises
        IntegrityError or UsageError where the wheel lacks the library that is replaced or another
        file of the recipe, or the libraries of the recipe's debs lack a function.
        """
        dist_info = super().write(context)
        fix = "correct `extra.replaces` in the recipe"
        library = only(context.root.rglob(self.replaces), f"its library {self.replaces}", fix)
        functions = set(exported(library))
        modules = [path for path in elf_files(context.root) if self.replaces in needed(path)]
        called = {name for path in modules for name in self._relink(path, functions)}
        if context.debs:
            _check_functions(context, called)
        _remove_library(context.root, library)
        use_libgcc_runtime(context)
        site = context.root / self.site_packages
        for pattern in self.leave_out:
            for path in matches([site], pattern, "correct `extra.leave_out` in the recipe"):
                remove(path)
        for edit in self.edits:
            edit.apply(site)
        for path in elf_files(context.root):
            shorten(path)
        for config in sorted(site.glob("**/__config__.py")):
            _write_config(config)
        return dist_info

    def _relink(self, module: Path, functions: Set[str]) -> list[str]:
        """Have a module need the other library; return the names by which it calls functions."""
        names = {}
        for function in functions & set(imported(module)):
            name = function.removeprefix(self.prefix)
            names[function] = GFORTRAN.get(name, name)
        overwrite_need(module, self.replaces, self.library)
        content = module.read_bytes()
        for name, renamed in names.items():
            if len(name) == len(renamed):
                content = content.replace(b"\0%s\0" % name.encode(), b"\0%s\0" % renamed.encode())
        module.write_bytes(content)
        # Another length; or the linker has stored the name as the end of a longer one only.
        rest = {name: names[name] for name in imported(module) if names.get(name, name) != name}
        if rest:
            rename_symbols(module, rest)
        return list(names.values())


def _check_functions(context: BuildContext, called: Set[str]) -> None:
    """Raise IntegrityError for a function that the libraries of the recipe's debs lack.

    They are the reference BLAS and LAPACK. Those of every flavour have their functions, and the
    renamed ones.
    """
    folder = unpack_debs(context, context.tmp / "reference")
    reference = {name for path in elf_files(folder) for name in exported(path)}
    missing = sorted(called - reference - set(GFORTRAN.values()))
    if missing:
        raise IntegrityError(
            f"its modules call {', '.join(missing)}",
            expected=f"functions of {', '.join(context.debs)}, which every flavour has",
            fix="pin an older wheel, or newer debs and libraries",
        )


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
