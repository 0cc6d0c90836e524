"""AMD's own LibM out of the archive that the user has got from AMD.

The archives seen in the wild are laid out as

    aocl-libm-linux-{gcc,aocc}-VERSION.tar.gz    amd-libm/lib/libalm.so, amd-libm/include/amdlibm.h
    aocl-linux-{gcc,aocc}-VERSION.tar.gz         the one above among AMD's other libraries
    amdlibm-VERSION.tar.gz                       amdlibm-VERSION/lib/dynamic/libamdlibm.so

Since version 3 the library is called libalm.so, and its array functions are declared in
amdlibm_vec.h, which Theano does not include; and not each release has all that Theano calls. So
amdlibm.h is one of the project's own, around AMD's headers, which are left as they are.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from stacks.channel.staging.build_context import Work
from stacks.channel.staging.elf import elf_files, exported, is_elf, set_rpath
from stacks.core.errors import IntegrityError, UsageError
from stacks.sources.unpack import unpack_tar

EXPECTED = (
    "AMD's archive aocl-libm-linux-gcc-VERSION.tar.gz (or -aocc-), aocl-linux-gcc-VERSION.tar.gz, "
    "or of old amdlibm-VERSION.tar.gz: with include/amdlibm.h beside lib/libalm.so or "
    "lib/libamdlibm.so"
)
LIBRARIES = ("libamdlibm.so", "libalm.so")
FOLDERS = ("lib", "lib/dynamic", "lib_LP64")
UNARY = ("exp", "log", "log2", "log10", "sin", "cos")
# What every release has; without them Theano gains nothing.
INDISPENSABLE = ("amd_vrsa_expf", "amd_vrda_exp")

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


def stage(work: Work) -> None:
    """Write lib/libamdlibm.so with what it needs, AMD's headers, and amdlibm.h around them."""
    [tarball] = work.sources.values()
    home = _home(tarball, work.scratch)
    library = _library(home)
    assert library is not None
    symbols = set(exported(library, "amd_")) if is_elf(library) else set()
    if not symbols.issuperset(INDISPENSABLE):
        raise _refused(tarball, f"{library.name} without {' and '.join(INDISPENSABLE)}")
    target = work.root / "lib"
    target.mkdir()
    for path in sorted(library.parent.glob("*.so*")):
        if is_elf(path.resolve()) and path.resolve().is_relative_to(home.resolve()):
            shutil.copyfile(path, target / path.name)
            (target / path.name).chmod(0o755)
    if library.name != LIBRARIES[0]:
        (target / LIBRARIES[0]).symlink_to(library.name)
    shutil.copytree(home / "include", work.root / "include/amdlibm")
    (work.root / "include/amdlibm.h").write_text(header(symbols))
    licences = work.root / "share/licenses" / work.recipe.package.name
    licences.mkdir(parents=True)
    for path in sorted(p for p in home.iterdir() if p.is_file()):
        if any(word in path.name.upper() for word in ("LICENSE", "EULA", "NOTICE")):
            shutil.copyfile(path, licences / path.name)
    set_rpath(elf_files(target), target)


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
    """Return each function's symbol, its parameters, and the call that does one element."""
    found = []
    for name in UNARY:
        found.append((f"amd_vrsa_{name}f", "int n, float *x, float *z", f"{name}f(x[i])"))
        found.append((f"amd_vrda_{name}", "int n, double *x, double *z", f"{name}(x[i])"))
    found.append(("amd_vrsa_powf", "int n, float *x, float *y, float *z", "powf(x[i], y[i])"))
    found.append(("amd_vrsa_powxf", "int n, float *x, float y, float *z", "powf(x[i], y)"))
    return found


def _home(tarball: Path, scratch: Path) -> Path:
    """Return the folder that has include/ and lib/, wherever the archive has it."""
    folder = scratch / "unpacked"
    try:
        unpack_tar(tarball, folder)
        for inner in sorted(folder.rglob("aocl-libm-*.tar.gz")):
            unpack_tar(inner, folder)
    except IntegrityError as error:
        raise _refused(tarball, error.what) from error
    for found in sorted(folder.rglob("include/amdlibm.h")):
        if _library(found.parent.parent):
            return found.parent.parent
    names = sorted(path.name for path in folder.iterdir())[:5]
    raise _refused(tarball, "an archive of " + (", ".join(names) or "nothing"))


def _library(home: Path) -> Path | None:
    places = [home / folder / name for name in LIBRARIES for folder in FOLDERS]
    return next((path for path in places if path.is_file()), None)


def _refused(tarball: Path, found: str) -> UsageError:
    return UsageError(
        f"{tarball}: this is not AMD LibM for Linux on x86_64",
        expected=EXPECTED,
        found=found,
        fix="get it from AMD's site, or unset the variable to have amdlibm-compat",
    )
