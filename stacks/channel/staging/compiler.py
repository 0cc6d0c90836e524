"""Debian's g++ in the prefix, with the sysroot that it compiles against.

Theano runs a C++ compiler at run time; this one needs nothing of the host. lib/gxx-sysroot has
Debian's layout, and bin/g++ runs the compiler in it with that folder as its sysroot.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH, copy_licences, unpack_debs
from stacks.channel.staging.elf import elf_files, set_rpath
from stacks.channel.staging.stage import Stage
from stacks.channel.staging.tree import check_links, remove, remove_broken_links
from stacks.core.models import FileName

# The prefix's headers and libraries come last, so that the caller's options win. A program may have
# the environment's folder alone on PATH: PyTensor would go on without a compiler, and not say so.
WRAPPER = """\
#!/bin/sh
prefix=$(PATH=$PATH:/usr/bin:/bin && dirname -- "$(dirname -- "$(realpath -- "$0")")")
sysroot=$prefix/lib/gxx-sysroot
unset COMPILER_PATH GCC_EXEC_PREFIX
exec "$sysroot/usr/bin/{program}" --sysroot="$sysroot" -B"$sysroot/usr/bin/" "$@" \\
    -idirafter "$prefix/include" -L"$prefix/lib"
"""
# For ld, ar and the like, which some programs look for on PATH.
TOOL = """\
#!/bin/sh
prefix=$(PATH=$PATH:/usr/bin:/bin && dirname -- "$(dirname -- "$(realpath -- "$0")")")
exec "$prefix/lib/gxx-sysroot/usr/bin/{program}" "$@"
"""
TOOLS = ("ar", "as", "ld", "nm", "ranlib", "strip")

LEFT_OUT = (
    "etc", "sbin", "usr/sbin", "usr/share", "usr/libexec", "lib64",
    f"usr/lib/{MULTIARCH}/gconv", f"usr/lib/{MULTIARCH}/audit", f"usr/lib/{MULTIARCH}/perl-base",
    f"usr/lib/{MULTIARCH}/bfd-plugins", f"lib/{MULTIARCH}/gconv", f"lib/{MULTIARCH}/audit",
)  # fmt: skip
LEFT_OUT_OF_GCC = (
    "lto1", "plugin", "install-tools", "liba[st]*", "libtsan*", "liblsan*", "libubsan*",
    "libgcov*", "libitm*", "libbacktrace.a", "libstdc++fs.a", "libsupc++.a", "libstdc++.a",
    "libgomp.a", "libquadmath.a", "libcc1.so",
)  # fmt: skip
ARCHIVES = ("libc_nonshared.a", "libpthread_nonshared.a", "libpthread.a", "libdl.a", "librt.a")

# Libraries of the compiler's own programs. They run on the host's C library, so the sysroot's C
# library is not among them.
OWN_LIBRARIES = (
    "libbfd-*.so", "libopcodes-*.so", "libctf*.so.*", "libisl.so.*", "libmpc.so.*", "libmpfr.so.*",
    "libgmp.so.*", "libzstd.so.*", "libz.so.*", "libjansson.so.*",
)  # fmt: skip


class Compiler(Stage):
    """Debian's g++ with its sysroot."""

    stage: Literal["compiler"]
    gcc: FileName

    def write(self, context: BuildContext) -> None:
        """Write bin/g++, bin/gcc, the binutils of TOOLS, and the sysroot."""
        root = unpack_debs(context, context.lib / "gxx-sysroot")
        copy_licences(root, context)
        gcc = root / f"usr/lib/gcc/{MULTIARCH}/{self.gcc}"
        programs = {
            "g++": f"{MULTIARCH}-g++-{self.gcc}",
            "gcc": f"{MULTIARCH}-gcc-{self.gcc}",
            **{tool: f"{MULTIARCH}-{tool}" for tool in TOOLS},
        }
        _prune(root, gcc, {*programs.values(), f"{MULTIARCH}-ld.bfd"})
        (root / "lib64").mkdir()
        loader = "ld-linux-x86-64.so.2"
        (root / "lib64" / loader).symlink_to(f"../lib/{MULTIARCH}/{loader}")
        for tool in TOOLS:
            (root / "usr/bin" / tool).symlink_to(programs[tool])
        check_links(root)
        remove_broken_links(root)
        # Debian has zlib beside the C library, where the compiler's own programs must not look.
        for path in (root / "lib" / MULTIARCH).glob("libz.so.*"):
            path.rename(root / "usr/lib" / MULTIARCH / path.name)
        set_rpath(_own_programs(root, gcc), root / "usr/lib" / MULTIARCH)
        (context.root / "bin").mkdir()
        for name, program in programs.items():
            path = context.root / "bin" / name
            path.write_text((TOOL if name in TOOLS else WRAPPER).format(program=program))
            path.chmod(0o755)


def _prune(root: Path, gcc: Path, programs: set[str]) -> None:
    paths = [root / name for name in LEFT_OUT]
    paths += [path for pattern in LEFT_OUT_OF_GCC for path in gcc.glob(pattern)]
    paths += [p for p in (root / "usr/bin").iterdir() if p.name not in programs]
    paths += [
        path for path in (root / "usr/lib" / MULTIARCH).glob("*.a") if path.name not in ARCHIVES
    ]
    for path in paths:
        remove(path)


def _own_programs(root: Path, gcc: Path) -> Iterator[Path]:
    yield from elf_files(root / "usr/bin")
    yield from (path for path in elf_files(gcc) if os.access(path, os.X_OK) or ".so" in path.name)
    for pattern in OWN_LIBRARIES:
        yield from (p for p in elf_files(root / "usr/lib" / MULTIARCH) if p.match(pattern))
