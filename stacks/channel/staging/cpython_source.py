"""CPython compiled from Debian's source package by the channel's own compiler, for any prefix.

Nothing of the host decides a byte: its shell and coreutils run, and no Python of its own. The
executable contains the interpreter (a tenth faster than one that loads libpython). libpython is
there too, for the modules that PyTensor links to it. Profile-guided optimisation is left out:
its profiles, and with them the machine code, differ between two builds.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from stacks.channel.stages import CPythonSource
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH, copy_libraries, copy_licences, unpack_all
from stacks.channel.staging.debian_source import (
    Run,
    check_no_folder,
    jobs,
    library_folders,
    runner,
    unpack_source,
)
from stacks.channel.staging.elf import elf_files, set_rpath
from stacks.channel.staging.openssl import compile_openssl
from stacks.channel.staging.tree import check_links, copy_tree, remove
from stacks.core import disk
from stacks.core.process import call

# What the files that sysconfig reads have in place of the prefix.
PREFIX = "/prefix-of-python"
# What they have in place of the folder of the build.
BUILD = "/build"
CONFIGURE = (
    f"--build={MULTIARCH}",
    f"--prefix={PREFIX}",
    "--enable-shared",
    "--without-ensurepip",
    "--disable-test-modules",
    "--with-dbmliborder=",
    "--with-system-expat=no",
    "--with-system-libmpdec=no",
    "--with-readline=readline",
    "--with-openssl-rpath=no",
)
# What configure would find out about the host, its kernel and its programs. No Python of the host
# may write a source again: `false` fails instead.
SITE = """\
ac_cv_prog_PYTHON_FOR_REGEN=false
ac_cv_file__dev_ptmx=yes
ac_cv_file__dev_ptc=no
ac_cv_buggy_getaddrinfo=no
ac_cv_broken_nice=no
ac_cv_broken_poll=no
ac_cv_broken_sem_getvalue=no
ac_cv_posix_semaphores_enabled=yes
ac_cv_have_chflags=no
ac_cv_have_lchflags=no
ac_cv_working_tzset=yes
ac_cv_path_SED=sed
ac_cv_path_GREP=grep
ac_cv_path_EGREP='grep -E'
ac_cv_path_mkdir=/bin/mkdir
ac_cv_path_install='/usr/bin/install -c'
ac_cv_path_ac_pt_LLVM_PROFDATA=
py_cv_module__tkinter=n/a
py_cv_module__dbm=n/a
py_cv_module__gdbm=n/a
"""
# Test suites, and modules whose libraries are not in the package.
LEFT_OUT = ("test", "idlelib", "tkinter", "turtledemo", "turtle.py", "ensurepip")
# Appended to the module that sysconfig reads.
RUN_TIME_PREFIX = f"""

def _use_prefix():
    import sys
    prefix = getattr(sys, "base_prefix", sys.prefix)
    for name, value in build_time_vars.items():
        if isinstance(value, str):
            build_time_vars[name] = value.replace({PREFIX!r}, prefix)


_use_prefix()
"""


def stage(context: BuildContext) -> None:
    """Compile the recipe's source package and write bin/, lib/ and include/ with its libraries.

    Raises CommandError where it does not compile, IntegrityError where the source package has
    other files than expected, or a result names the folder of the build.
    """
    extra = context.recipe.extra
    assert isinstance(extra, CPythonSource)
    version = ".".join(context.recipe.package.version.split(".")[:2])
    with disk.scratch() as folder:
        # The makefile cannot be in a path with blanks, and the cache may have one.
        scratch = folder / "build"
        scratch.symlink_to(context.scratch)
        debs, source = scratch / "debs", scratch / "source"
        unpack_all(context, debs)
        openssl = compile_openssl(context, scratch, debs, extra.openssl_patches)
        run = _runner(context, debs, source)
        unpack_source(context, extra.source, source, extra.patches, run)
        installed = _compile(scratch, openssl, source, version, run)
        library = f"lib/python{version}"
        for path in _left_out(installed, installed / library):
            remove(path)
        for name in ("bin", "include", "lib"):
            copy_tree(installed / name, context.root / name)
        check_links(context.root)
        folders = (str(scratch), str(context.scratch))
        library_folder = context.root / library
        for path in library_folder.glob("_sysconfigdata_*.py"):
            path.write_text(without_folders(path.read_text(), folders) + RUN_TIME_PREFIX)
        for path in library_folder.glob("config-*/Makefile"):
            path.write_text(without_folders(path.read_text(), folders))
        copy_libraries(debs, context.root / "lib", extra.libraries)
        for path in sorted((openssl / "lib").glob("*.so.*")):
            shutil.copyfile(path, context.root / "lib" / path.name)
        for path in elf_files(context.root):
            path.chmod(0o755)
            call([context.tools / "bin/strip", "--strip-unneeded", path])
        set_rpath(elf_files(context.root), context.root / "lib")
        check_no_folder(
            context.root,
            (*folders, str(folder)),
            "correct without_folders in stacks/channel/staging/cpython_source.py",
        )
        _copy_licences(context, debs, scratch, source, extra.tools)


def _runner(context: BuildContext, debs: Path, source: Path) -> Run:
    """Return what runs a program with the channel's compiler and the recipe's make and patch."""
    libraries = [*library_folders(debs), source.parent / "openssl/lib"]
    headers = [debs / "usr/include", debs / "usr/include" / MULTIARCH]
    return runner(
        context,
        debs,
        source,
        libraries,
        CONFIG_SITE=str(source.parent / "config.site"),
        PKG_CONFIG="false",
        READELF=":",
        CPPFLAGS=" ".join(f"-I{path}" for path in headers),
        LDFLAGS=" ".join(f"-L{path}" for path in libraries),
        OPT="-DNDEBUG -fwrapv -O3 -Wall",
        CFLAGS_NODIST="-fno-semantic-interposition -g0",
        LDFLAGS_NODIST="-Wl,-Bsymbolic-functions",
    )


def _compile(scratch: Path, openssl: Path, source: Path, version: str, run: Run) -> Path:
    """Configure, compile and install; return the folder that stands for the prefix."""
    (scratch / "config.site").write_text(SITE)
    run(["sh", "./configure", *CONFIGURE, f"--with-openssl={openssl}"])
    run(["make", jobs()])
    target = scratch / "installed"
    run(["make", "install", f"DESTDIR={target}", "COMPILEALL_OPTS=-q -x ."])
    installed = target / PREFIX.lstrip("/")
    program = f"{installed}/bin/python{version}"
    # Whole: modules call functions that the interpreter itself does not.
    whole = ["-Wl,--whole-archive", f"libpython{version}.a", "-Wl,--no-whole-archive"]
    libraries = ["-lpthread", "-ldl", "-lutil", "-lm"]
    options = ["-pthread", "-Wl,-export-dynamic", "-o", program]
    run(["gcc", *options, "Programs/python.o", *whole, *libraries])
    (installed / "bin/python").symlink_to(f"python{version}")
    return installed


def _left_out(installed: Path, library: Path) -> list[Path]:
    programs = ("python", "python3", library.name)
    return [
        *(library / name for name in LEFT_OUT),
        *(path for path in (installed / "bin").iterdir() if path.name not in programs),
        *installed.rglob("*.a"),
        *library.rglob("*.pyc"),
        *library.rglob("__pycache__"),
        *(path for path in library.glob("config-*/*.o")),
        installed / "lib/pkgconfig",
    ]


def without_folders(text: str, folders: Sequence[str]) -> str:
    """Return a text of sysconfig's without the folders of the build."""
    for folder in folders:
        text = re.sub(rf"-[IL]{re.escape(folder)}\S*?(?=[\s'\"]) ?", "", text)
        text = text.replace(f"{folder}/debs/usr", PREFIX).replace(folder, BUILD)
    return text


def _copy_licences(
    context: BuildContext, debs: Path, scratch: Path, source: Path, tools: Sequence[str]
) -> None:
    """Copy the licences of Python, and of the libraries in the package."""
    copy_licences(debs, context, left_out=tools)
    shutil.copyfile(source / "LICENSE", context.licences / "LICENSE")
    # Of the parts of other authors, with the text of each licence.
    copyright_file = scratch / "packaging/debian/copyright"
    shutil.copyfile(copyright_file, context.licences / "copyright")
