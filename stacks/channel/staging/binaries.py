"""Binaries of other makers that a copy would not do: PoCL out of its wheel, AMD's own LibM.

PoCL is an OpenCL for CPUs; its wheel contains the LLVM that it compiles with. lib/pocl has the
wheel's own layout: libpocl finds its headers and its kernel library relative to itself, and
OpenCL's loader finds libpocl by its bare name (see recipes/ocl-icd).

PoCL links each kernel as a shared library, with the `ld` that its LLVM looks up on PATH, first
under the name of the target. That linker needs the libraries of a GCC and of a C library's
development files. The host may lack them, or have newer ones that an older linker cannot read. So
the prefix has a linker of that name, which takes the compiler package's libraries.

One of its functions is replaced by one of the project's, for a fault that nothing outside of the
library can fix, and of which no newer wheel exists: see recipes/pocl/src. The channel's tools
assemble the source and link it for the address of the old function.

AMD LibM is in an archive that the user has downloaded from AMD. The known layouts:

    aocl-libm-linux-{gcc,aocc}-VERSION.tar.gz    amd-libm/lib/libalm.so, amd-libm/include/amdlibm.h
    aocl-linux-{gcc,aocc}-VERSION.tar.gz         contains the archive above
    amdlibm-VERSION.tar.gz                       amdlibm-VERSION/lib/dynamic/libamdlibm.so

Since version 3 the library is called libalm.so, and its array functions are declared in
amdlibm_vec.h, which Theano does not include; and some releases lack functions that Theano calls. So
the project writes its own amdlibm.h, which includes AMD's unchanged headers.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import ClassVar, Literal

from elftools.elf.sections import SymbolTableSection
from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.compiled import gcc
from stacks.channel.staging.elf import exported, is_elf, opened
from stacks.channel.staging.python_packages import unpack_wheel
from stacks.channel.staging.stage import Stage
from stacks.channel.staging.tree import copy_tree, only
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.models import SHA256, FileName, Strict, Variable
from stacks.sources.unpack import unpack_tar

LINKER = """\
#!/bin/sh
prefix=$(dirname -- "$(dirname -- "$(realpath -- "$0")")")
sysroot=$prefix/lib/gxx-sysroot
exec "$sysroot/usr/bin/ld" --sysroot="$sysroot" \\
    -L"$sysroot/usr/lib/gcc/x86_64-linux-gnu/{gcc}" \\
    -L"$sysroot/usr/lib/x86_64-linux-gnu" -L"$sysroot/lib/x86_64-linux-gnu" "$@"
"""
TARGET = "x86_64-unknown-linux-gnu"
# INT3, which ends the program, fills the rest of the old function.
TRAP = b"\xcc"


class Replaced(Strict):
    """The replacement of a function of a library."""

    function: Variable = Field(description="its name; src/NAME.s replaces it")
    room: int = Field(gt=0, description="bytes from its start to the next function")
    sha256: str = Field(pattern=SHA256, description="of those bytes")
    calls: dict[Variable, int] = Field(description="name in src/NAME.s: its address in the library")


class PoCL(Stage):
    """PoCL, its registration with OpenCL's loader, and the linker."""

    takes_src: ClassVar = True

    stage: Literal["pocl"]
    gcc: FileName = Field(
        description="the version of the compiler package's GCC, as in its folders"
    )
    replaced: Replaced | None = None

    def write(self, context: BuildContext) -> Path:
        """Write lib/pocl, etc/ and bin/; IntegrityError where the wheel has another layout."""
        [wheel] = context.files
        folder = context.lib / "pocl"
        dist_info = unpack_wheel(wheel, folder, ".", folder)
        libraries = (folder / "pyopencl/.libs").glob("libpocl-*.so")
        library = only(libraries, f"{wheel.name}: pyopencl/.libs/libpocl-*.so")
        if self.replaced:
            self._replace_function(context, library, self.replaced)
        vendors = context.root / "etc/OpenCL/vendors"
        vendors.mkdir(parents=True)
        (vendors / "pocl.icd").write_text(library.name + "\n")
        (context.root / "bin").mkdir()
        linker = context.root / "bin" / f"{TARGET}-ld"
        linker.write_text(LINKER.format(gcc=self.gcc))
        linker.chmod(0o755)
        for path in (folder / "pocl_binary_distribution/.libs/share/pocl/licenses").iterdir():
            shutil.copyfile(path, context.licences / path.name)
        for path in folder.rglob("*.so*"):
            path.chmod(0o755)
        return dist_info

    def _replace_function(self, context: BuildContext, library: Path, replaced: Replaced) -> None:
        """Replace a function of the library by the recipe's src/FUNCTION.s.

        Raises IntegrityError where the library lacks the function, its bytes are not those of
        `replaced.sha256`, or the new code is longer than `replaced.room`.
        """
        name, data = replaced.function, bytearray(library.read_bytes())
        address, offset = locate(library, name)
        end = offset + replaced.room
        digest = hashlib.sha256(data[offset:end]).hexdigest()
        if digest != replaced.sha256:
            raise IntegrityError(
                f"{library.name}: {name} is not the function that the recipe replaces",
                expected=f"{replaced.room} bytes of sha256 {replaced.sha256}",
                found=digest,
                fix="check whether the fault still exists, and correct `extra.replaced` in the "
                "recipe",
            )
        [source] = [path for path in self.code(context) if path.name == f"{name}.s"]
        shutil.copyfile(source, context.tmp / source.name)
        names = [f"-Wl,--defsym,{called}={target:#x}" for called, target in replaced.calls.items()]
        layout = [f"-Wl,-Ttext={address:#x}", "-Wl,--oformat=binary", "-Wl,--build-id=none"]
        arguments = ["-nostdlib", "-static", *layout, *names, f"-Wl,-e,{name}"]
        gcc(context, context.tmp, [*arguments, source.name, "-o", "code"])
        code = (context.tmp / "code").read_bytes()
        if len(code) > replaced.room:
            raise IntegrityError(
                f"src/{name}.s is longer than the function in {library.name}",
                expected=f"at most {replaced.room} bytes",
                found=f"{len(code)}",
                fix="make it shorter",
            )
        data[offset:end] = code.ljust(replaced.room, TRAP)
        library.write_bytes(data)


def locate(library: Path, name: str) -> tuple[int, int]:
    """Return (address, offset in the file) of a dynamic function; IntegrityError if missing."""
    with opened(library) as elf:
        table = elf.get_section_by_name(".dynsym")
        symbols = table.get_symbol_by_name(name) if isinstance(table, SymbolTableSection) else None
        for symbol in symbols or ():
            for offset in elf.address_offsets(symbol["st_value"]):
                return symbol["st_value"], offset
    raise IntegrityError(
        f"{library.name} has no function {name}", fix="correct `extra.replaced` in the recipe"
    )


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
        home, library = _unpack(tarball, context.tmp)
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


def _unpack(tarball: Path, tmp: Path) -> tuple[Path, Path]:
    """Unpack the archive; return the folder in it that has include/ and lib/, and the library."""
    folder = tmp / "unpacked"
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
