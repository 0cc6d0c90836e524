"""AMD's own LibM out of an archive that the user has downloaded from AMD.

The known layouts of the archives:

    aocl-libm-linux-{gcc,aocc}-VERSION.tar.gz    amd-libm/lib/libalm.so, amd-libm/include/amdlibm.h
    aocl-linux-{gcc,aocc}-VERSION.tar.gz         contains the archive above
    amdlibm-VERSION.tar.gz                       amdlibm-VERSION/lib/dynamic/libamdlibm.so

Since version 3 the library is called libalm.so, and its array functions are declared in
amdlibm_vec.h, which Theano does not include; and some releases lack functions that Theano calls. So
the project writes its own amdlibm.h, which includes AMD's unchanged headers.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.elf import exported, is_elf
from stacks.channel.staging.stage import Stage
from stacks.channel.staging.tree import copy_tree
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.models import Variable
from stacks.sources.unpack import unpack_tar

EXPECTED = (
    "AMD's archive aocl-libm-linux-gcc-VERSION.tar.gz (or -aocc-), aocl-linux-gcc-VERSION.tar.gz, "
    "or amdlibm-VERSION.tar.gz, with include/amdlibm.h and lib/libalm.so or "
    "lib/libamdlibm.so"
)
LIBRARIES = ("libamdlibm.so", "libalm.so")
FOLDERS = ("lib", "lib/dynamic", "lib_LP64")
UNARY = ("exp", "log", "log2", "log10", "sin", "cos")
# Functions that every release has; Theano gains nothing without them.
REQUIRED = ("amd_vrsa_expf", "amd_vrda_exp")

HEADER = """\
/* Written by theano-stacks around AMD's own headers, for Theano: the array functions that it calls.
 * Those that this release of AMD LibM lacks are loops over the C library's functions. */
#ifndef THEANO_STACKS_AMDLIBM_H
#define THEANO_STACKS_AMDLIBM_H
#include <math.h>
{inline}
#include "amdlibm/amdlibm.h"
#ifdef __cplusplus
extern "C" {{
#endif
{declared}
#ifdef __cplusplus
}}
#endif
#endif
"""


class UserTarball(Stage):
    """AMD LibM out of the user's archive; see stacks/environments/make/packages.py."""

    rpath: ClassVar = ("lib",)

    stage: Literal["amdlibm"]
    variable: Variable = Field(description="the environment variable that names the file")

    def write(self, context: BuildContext) -> None:
        """Write lib/libamdlibm.so with the libraries that it needs, AMD's headers, and amdlibm.h.

        Raises UsageError where the user's file is not an archive of AMD LibM.
        """
        [tarball] = context.sources.values()
        home, library = _unpack(tarball, context.scratch)
        try:
            symbols = set(exported(library, "amd_")) if is_elf(library) else set()
        except IntegrityError as error:
            raise _not_amdlibm(tarball, error.what) from error
        if not symbols.issuperset(REQUIRED):
            raise _not_amdlibm(tarball, f"{library.name} without {' and '.join(REQUIRED)}")
        context.lib.mkdir()
        for path in sorted(library.parent.glob("*.so*")):
            if is_elf(path.resolve()) and path.resolve().is_relative_to(home.resolve()):
                shutil.copyfile(path, context.lib / path.name)
                (context.lib / path.name).chmod(0o755)
        if library.name != LIBRARIES[0]:
            (context.lib / LIBRARIES[0]).symlink_to(library.name)
        copy_tree(home / "include", context.root / "include/amdlibm")
        (context.root / "include/amdlibm.h").write_text(header(symbols))
        for path in sorted(p for p in home.iterdir() if p.is_file()):
            if any(word in path.name.upper() for word in ("LICENSE", "EULA", "NOTICE")):
                shutil.copyfile(path, context.licences / path.name)


def header(symbols: set[str]) -> str:
    """Return amdlibm.h for a library that has these symbols."""
    declared, inline = [], []
    for symbol, parameters, call in _functions():
        if symbol in symbols:
            declared.append(f"void {symbol}({parameters});")
        else:
            loop = f"for (int i = 0; i < n; i++) z[i] = {call};"
            inline.append(f"static inline void {symbol}({parameters}) {{ {loop} }}")
    return HEADER.format(declared="\n".join(declared), inline="\n".join(inline))


def _functions() -> list[tuple[str, str, str]]:
    """Return (symbol, parameters, call for one element) of each function."""
    functions = []
    for name in UNARY:
        functions.append((f"amd_vrsa_{name}f", "int n, float *x, float *z", f"{name}f(x[i])"))
        functions.append((f"amd_vrda_{name}", "int n, double *x, double *z", f"{name}(x[i])"))
    functions.append(("amd_vrsa_powf", "int n, float *x, float *y, float *z", "powf(x[i], y[i])"))
    functions.append(("amd_vrsa_powxf", "int n, float *x, float y, float *z", "powf(x[i], y)"))
    return functions


def _unpack(tarball: Path, scratch: Path) -> tuple[Path, Path]:
    """Unpack the archive; return the folder in it that has include/ and lib/, and the library."""
    folder = scratch / "unpacked"
    try:
        unpack_tar(tarball, folder)
        for inner in sorted(folder.rglob("aocl-libm-*.tar.gz")):
            unpack_tar(inner, folder)
    except IntegrityError as error:
        raise _not_amdlibm(tarball, error.what) from error
    for header_file in sorted(folder.rglob("include/amdlibm.h")):
        home = header_file.parent.parent
        for path in (home / each / name for name in LIBRARIES for each in FOLDERS):
            if path.is_file():
                return home, path
    names = sorted(path.name for path in folder.iterdir())[:5]
    raise _not_amdlibm(tarball, "an archive of " + (", ".join(names) or "nothing"))


def _not_amdlibm(tarball: Path, found: str) -> UsageError:
    return UsageError(
        f"{tarball} is not AMD LibM for Linux on x86_64",
        expected=EXPECTED,
        found=found,
        fix="download it from AMD's site, or unset the variable to use amdlibm-compat",
    )
