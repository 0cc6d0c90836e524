"""PoCL, an OpenCL for CPUs, out of its wheel, which contains the LLVM that it compiles with.

lib/pocl has the wheel's own layout: libpocl finds its headers and its kernel library relative to
itself, and OpenCL's loader finds libpocl by its bare name (see recipes/ocl-icd).

PoCL links each kernel as a shared library, with the `ld` that its LLVM looks up on PATH, first
under the name of the target. That linker needs the libraries of a GCC and of a C library's
development files. The host may lack them, or have newer ones that an older linker cannot read. So
the prefix has a linker of that name, which takes the compiler package's libraries.

One of its functions is replaced: see recipes/pocl/src.
"""

from __future__ import annotations

from stacks.channel.stages import PoCL
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.dist_info import write_record
from stacks.channel.staging.replaced_function import replace_function
from stacks.channel.staging.tree import copy_tree
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


def stage(context: BuildContext) -> None:
    """Write lib/pocl, its registration with OpenCL's loader, the linker, and the licences.

    Raises IntegrityError where the wheel has another layout.
    """
    extra = context.recipe.extra
    assert isinstance(extra, PoCL)
    [wheel] = context.files
    folder = context.root / "lib/pocl"
    dist_info = unpack_wheel(wheel, folder, ".", folder)
    libraries = sorted((folder / "pyopencl/.libs").glob("libpocl-*.so"))
    data = folder / "pocl_binary_distribution/.libs/share/pocl"
    if len(libraries) != 1 or not data.is_dir():
        raise IntegrityError(
            f"{wheel.name} has another layout than the stage is written for",
            expected="pyopencl/.libs/libpocl-*.so and pocl_binary_distribution/.libs/share/pocl",
            found=f"{len(libraries)} of the first, {int(data.is_dir())} of the second",
            fix="adapt stacks/channel/staging/pocl.py to the wheel's version",
        )
    if extra.replaced:
        replace_function(context, libraries[0], extra.replaced)
    vendors = context.root / "etc/OpenCL/vendors"
    vendors.mkdir(parents=True)
    (vendors / "pocl.icd").write_text(libraries[0].name + "\n")
    (context.root / "bin").mkdir()
    linker = context.root / "bin" / f"{TARGET}-ld"
    linker.write_text(LINKER.format(gcc=extra.gcc))
    linker.chmod(0o755)
    copy_tree(data / "licenses", context.licences)
    for path in folder.rglob("*.so*"):
        path.chmod(0o755)
    write_record(context.root, dist_info)
