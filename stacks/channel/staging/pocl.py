"""PoCL, an OpenCL for CPUs, out of its wheel, which carries the LLVM that it compiles with.

It is left in the wheel's own layout, below lib/pocl: libpocl finds its headers and its kernel
library from its own place, and is found by its bare name (see recipes/ocl-icd).

PoCL links each kernel as a shared library, by the `ld` that its LLVM looks up on PATH: first under
the name of the target. That linker asks for the libraries of a GCC and of a C library's development
files, which the host need not have, and whose newer ones an older linker cannot read. So there is
one of that name in the prefix, which takes those of the compiler package.

One of its functions is replaced: see recipes/pocl/src.
"""

from __future__ import annotations

import shutil

from stacks.channel.stages import PoCL
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.replaced_function import replace_function
from stacks.channel.staging.wheel import unpack_wheel
from stacks.core.errors import IntegrityError

LINKER = """\
#!/bin/sh
prefix=$(dirname -- "$(dirname -- "$(realpath -- "$0")")")
sysroot=$prefix/lib/gxx-sysroot
exec "$sysroot/usr/bin/ld" --sysroot="$sysroot" \\
    -L"$sysroot/usr/lib/gcc/x86_64-linux-gnu/{gcc}" \\
    -L"$sysroot/usr/lib/x86_64-linux-gnu" -L"$sysroot/lib/x86_64-linux-gnu" "$@"
"""
TARGET = "x86_64-unknown-linux-gnu"


def stage(work: Work) -> None:
    """Write lib/pocl, the file that tells OpenCL's loader of it, the linker, and the licences.

    Raises IntegrityError where the wheel is not laid out as the one that the recipe knows.
    """
    extra = work.recipe.extra
    assert isinstance(extra, PoCL)
    [wheel] = work.files
    folder = work.root / "lib/pocl"
    unpack_wheel(wheel, folder, ".", folder)
    libraries = sorted((folder / "pyopencl/.libs").glob("libpocl-*.so"))
    data = folder / "pocl_binary_distribution/.libs/share/pocl"
    if len(libraries) != 1 or not data.is_dir():
        raise IntegrityError(
            f"{wheel.name} is not laid out as the recipe knows it",
            expected="pyopencl/.libs/libpocl-*.so and pocl_binary_distribution/.libs/share/pocl",
            found=f"{len(libraries)} of the first, {int(data.is_dir())} of the second",
            fix="adapt stacks/channel/staging/pocl.py to the wheel's version",
        )
    if extra.replaced:
        replace_function(work, libraries[0], extra.replaced)
    vendors = work.root / "etc/OpenCL/vendors"
    vendors.mkdir(parents=True)
    (vendors / "pocl.icd").write_text(libraries[0].name + "\n")
    (work.root / "bin").mkdir()
    linker = work.root / "bin" / f"{TARGET}-ld"
    linker.write_text(LINKER.format(gcc=extra.gcc))
    linker.chmod(0o755)
    shutil.copytree(data / "licenses", work.root / "share/licenses" / work.recipe.package.name)
    for path in folder.rglob("*.so*"):
        path.chmod(0o755)
