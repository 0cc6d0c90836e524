"""Debian's CPython and its g++, relocatable to any prefix.

The interpreter derives its prefix from its own path. What remains is to undo Debian's split of
site-packages into dist-packages and local, and to have `sysconfig` return the prefix's paths.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH, copy_libraries, copy_licences, unpack_debs
from stacks.channel.staging.elf import elf_files, set_rpath
from stacks.channel.staging.stage import Edit, Stage
from stacks.channel.staging.tree import (
    check_links,
    copy_tree,
    prune,
    remove_broken_links,
    replace_once,
)
from stacks.core.models import FileName, Name, RelativePath

FIX_FROZEN = "correct `extra.frozen` in the recipe"
# Appended to the module that sysconfig reads, which Debian configured for /usr.
RUN_TIME_PREFIX = r"""

def _use_prefix():
    import re
    import sys
    prefix = getattr(sys, "base_prefix", sys.prefix)
    inside = re.compile(r"(?<![\w.])/usr(?=/(?:bin|include|lib|share)\b)")
    for name, value in list(build_time_vars.items()):
        if not isinstance(value, str):
            continue
        value = value.replace("/lib/x86_64-linux-gnu", "/lib")
        value = prefix if value == "/usr" else inside.sub(lambda match: prefix, value)
        build_time_vars[name] = value.replace("--prefix=/usr", "--prefix=" + prefix)


_use_prefix()
"""

# Debian's own hook, test suites, compiled files, modules whose libraries are not in the package.
LEFT_OUT = (
    "sitecustomize.py", "test", "idlelib", "lib-tk", "tkinter", "dist-packages",
    "_distutils_system_mod.py", "EXTERNALLY-MANAGED", "**/*.pyc", "**/*.pyo",
    "lib-dynload/nis.*", "lib-dynload/_tkinter.*", "config*/*.a", "config*/*.o",
)  # fmt: skip


class CPython(Stage):
    """Debian's Python."""

    rpath: ClassVar = ("lib",)

    stage: Literal["cpython"]
    libraries: tuple[RelativePath, ...] = Field(strict=False)
    edits: tuple[Edit, ...] = Field(strict=False, description="of the standard library")
    frozen: dict[Name, Name] = Field(
        default_factory=dict, description="name in the interpreter's frozen modules: its new name"
    )

    def write(self, context: BuildContext) -> None:
        """Write bin/, lib/ and include/ of a relocatable interpreter with its shared libraries.

        Raises IntegrityError where a file of the debs is not the one that the recipe edits.
        """
        version = ".".join(context.recipe.package.version.split(".")[:2])
        debs, root = unpack_debs(context), context.root
        library = context.lib / f"python{version}"
        # Before the copy: a link of the debs leads to a file of theirs only in their own tree.
        prune(debs / f"usr/lib/python{version}", LEFT_OUT)
        for name in ("lib", "include"):
            copy_tree(debs / f"usr/{name}/python{version}", root / f"{name}/python{version}")
        check_links(root)
        remove_broken_links(library)
        (library / "site-packages").mkdir()
        (library / "site-packages/README.txt").write_text("Third-party packages go here.\n")
        _copy_interpreter(debs, root, version)
        copy_libraries(debs, context.lib, self.libraries)
        for old, new in self.frozen.items():
            for path in (root / f"bin/python{version}", *sorted(context.lib.glob("libpython*"))):
                if not path.is_symlink():
                    before, after = old.encode() + b"\0", new.encode() + b"\0"
                    replace_once(path, before, after, FIX_FROZEN, in_place=True)
        for edit in self.edits:
            edit.apply(library)
        for data in sorted(library.rglob("_sysconfigdata_*.py")):
            if not data.is_symlink() and "build_time_vars" in data.read_text():
                data.write_text(_relocated(data.read_text()))


def _copy_interpreter(source: Path, root: Path, version: str) -> None:
    (root / "bin").mkdir()
    shutil.copy2(source / f"usr/bin/python{version}", root / f"bin/python{version}")
    for link in ("python", f"python{version[0]}"):
        (root / "bin" / link).symlink_to(f"python{version}")
    # Debian's own pyconfig.h only includes the one for the architecture.
    shutil.copyfile(
        source / f"usr/include/{MULTIARCH}/python{version}/pyconfig.h",
        root / f"include/python{version}/pyconfig.h",
    )


def _relocated(text: str) -> str:
    text = re.sub(r"-f(?:file|debug)-prefix-map=\S+?=\.(?: |(?='))", "", text)
    text = re.sub(r"/build/[^/]+/[^/']+/build-shared", "", text)
    return text.replace(f"{MULTIARCH}-", "") + RUN_TIME_PREFIX


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

LEFT_OUT_OF_SYSROOT = (
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
        prune(root, LEFT_OUT_OF_SYSROOT)
        prune(gcc, LEFT_OUT_OF_GCC)
        prune(root / "usr/bin", ["*"], {*programs.values(), f"{MULTIARCH}-ld.bfd"})
        prune(root / "usr/lib" / MULTIARCH, ["*.a"], ARCHIVES)
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


def _own_programs(root: Path, gcc: Path) -> Iterator[Path]:
    yield from elf_files(root / "usr/bin")
    yield from (path for path in elf_files(gcc) if os.access(path, os.X_OK) or ".so" in path.name)
    for pattern in OWN_LIBRARIES:
        yield from (p for p in elf_files(root / "usr/lib" / MULTIARCH) if p.match(pattern))
