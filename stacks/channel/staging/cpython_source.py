"""CPython compiled from Debian's source package by the channel's own compiler, for any prefix.

Nothing of the host decides a byte: its shell and coreutils run, and no Python of its own. The
executable contains the interpreter (a tenth faster than one that loads libpython). libpython is
there too, for the modules that PyTensor links to it. Profile-guided optimisation is left out:
its profiles, and with them the machine code, differ between two builds.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import (
    MULTIARCH,
    Run,
    SourcePackage,
    check_no_folder,
    configure_openssl,
    copy_libraries,
    jobs,
    library_folders,
    runner,
    unpack_debs,
    unpack_source,
)
from stacks.channel.staging.elf import elf_files
from stacks.channel.staging.stage import Stage
from stacks.channel.staging.tree import check_links, copy_tree, prune
from stacks.core import disk
from stacks.core.console import plural
from stacks.core.errors import IntegrityError
from stacks.core.models import Line, Name, RelativePath, Variable
from stacks.core.process import call
from verify.core import machine

# What the files that sysconfig reads have in place of the prefix.
PREFIX = "/prefix-of-python"
# What they have in place of the folder of the build.
BUILD = "/build"
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


class CPythonSource(Stage):
    """Debian's sources of Python and OpenSSL, compiled."""

    rpath: ClassVar = ("lib",)

    stage: Literal["cpython-source"]
    python: SourcePackage
    openssl: SourcePackage
    answers: dict[Variable, Line] = Field(
        description="answers for Python's configure script, which must not ask the host"
    )
    functions: tuple[Variable, ...] = Field(
        strict=False, description="functions that the script need not look for"
    )
    headers: tuple[Variable, ...] = Field(
        strict=False, description="headers that it need not look for, as in `sys_stat_h`"
    )
    variables: dict[Variable, Line] = Field(
        description="environment variables of Python's configure script and makefile"
    )
    cpu_seconds: int = Field(
        exclude=True, description="CPU time that compiling took where it was measured, to print"
    )
    tools: tuple[Name, ...] = Field(
        strict=False, description="debs whose programs build it; nothing of them is in the package"
    )
    leave_out: tuple[RelativePath, ...] = Field(
        strict=False, description="files and folders of the standard library"
    )
    libraries: tuple[RelativePath, ...] = Field(strict=False)

    def debs_of_tools(self) -> tuple[str, ...]:
        """Return the debs of the option `tools`."""
        return self.tools

    def write(self, context: BuildContext) -> None:
        """Compile the source packages and write bin/, lib/ and include/ with all libraries.

        It prints what it compiles. Raises CommandError if that fails, IntegrityError if a source
        package has other files than expected, a module of Python's does not load, or a result names
        the folder of the build.
        """
        version = context.recipe.package.version
        count = plural(machine.usable_cores(), "core")
        where = f"on {count}: about {self.cpu_seconds} s of CPU time"
        print(f"  compiling OpenSSL and Python {version}, {where}", file=sys.stderr, flush=True)
        with disk.tmp_folder() as folder:
            # The makefile cannot be in a path with blanks, and the cache may have one.
            tmp = folder / "build"
            tmp.symlink_to(context.tmp)
            debs = unpack_debs(context, tmp / "debs")
            installed = self._compile(context, tmp, debs)
            library = context.lib / f"python{version.rpartition('.')[0]}"
            built = ("**/*.pyc", "**/__pycache__", "config-*/*.o")
            prune(installed / "lib" / library.name, (*self.leave_out, *built))
            prune(installed, ("**/*.a", "lib/pkgconfig"))
            prune(installed / "bin", ["*"], ("python", "python3", library.name))
            for name in ("bin", "include", "lib"):
                copy_tree(installed / name, context.root / name)
            check_links(context.root)
            folders = (str(tmp), str(context.tmp))
            for path in library.glob("_sysconfigdata_*.py"):
                path.write_text(without_folders(path.read_text(), folders) + RUN_TIME_PREFIX)
            for path in library.glob("config-*/Makefile"):
                path.write_text(without_folders(path.read_text(), folders))
            copy_libraries(debs, context.lib, self.libraries)
            for path in sorted((tmp / "openssl/lib").glob("*.so.*")):
                shutil.copyfile(path, context.lib / path.name)
            for path in elf_files(context.root):
                path.chmod(0o755)
                call([context.tools / "bin/strip", "--strip-unneeded", path])
            check_no_folder(
                context.root,
                (*folders, str(folder)),
                "correct without_folders in stacks/channel/staging/cpython_source.py",
            )
        shutil.copyfile(context.tmp / "source/LICENSE", context.licences / "LICENSE")
        # Of the parts of other authors, with the text of each licence.
        copyright_file = context.tmp / "packaging/debian/copyright"
        shutil.copyfile(copyright_file, context.licences / "copyright")

    def _compile(self, context: BuildContext, tmp: Path, debs: Path) -> Path:
        """Compile OpenSSL and Python, and install; return the folder that stands for the prefix."""
        source = tmp / "source"
        run = self._runner(context, debs, source)
        with ThreadPoolExecutor() as pool:
            configured = pool.submit(configure_openssl, context, tmp, debs, self.openssl)
            unpack_source(context, self.python, source, run)
            # Python's configure script runs on one core and needs only OpenSSL's headers.
            libraries = pool.submit(configured.result())
            folders = (f"--prefix={PREFIX}", f"--with-openssl={tmp / 'openssl'}")
            options = self.python.configure
            run(["sh", "./configure", f"--build={MULTIARCH}", *folders, *options])
            libraries.result()
        run(["make", jobs()])
        target = tmp / "installed"
        run(["make", "install", f"DESTDIR={target}", "COMPILEALL_OPTS=-q -x .", jobs()])
        installed = target / PREFIX.lstrip("/")
        [library] = installed.glob("lib/python3.*")
        if failed := sorted(path.name for path in library.glob("lib-dynload/*_failed.so")):
            raise IntegrityError(
                "modules of Python's standard library do not load",
                found=", ".join(failed),
                fix="correct `extra.answers` in the recipe, or the list of debs",
            )
        program = installed / "bin" / library.name
        # Whole: modules call functions that the interpreter itself does not.
        whole = ["-Wl,--whole-archive", f"lib{library.name}.a", "-Wl,--no-whole-archive"]
        system = ["-lpthread", "-ldl", "-lutil", "-lm"]
        linking = ["-pthread", "-Wl,-export-dynamic", "-o", str(program)]
        run(["gcc", *linking, "Programs/python.o", *whole, *system])
        (installed / "bin/python").symlink_to(library.name)
        return installed

    def _runner(self, context: BuildContext, debs: Path, source: Path) -> Run:
        """Return what runs a program with the channel's compiler and the debs' make and patch."""
        libraries = [*library_folders(debs), source.parent / "openssl/lib"]
        headers = [debs / "usr/include", debs / "usr/include" / MULTIARCH]
        site = source.parent / "config.site"
        found = {f"ac_cv_func_{name}": "yes" for name in self.functions}
        found |= {f"ac_cv_header_{name}": "yes" for name in self.headers}
        answers = found | self.answers
        site.write_text("".join(f"{name}={value}\n" for name, value in answers.items()))
        return runner(
            context,
            debs,
            source,
            libraries,
            CONFIG_SITE=str(site),
            CPPFLAGS=" ".join(f"-I{path}" for path in headers),
            LDFLAGS=" ".join(f"-L{path}" for path in libraries),
            **self.variables,
        )


def without_folders(text: str, folders: Sequence[str]) -> str:
    """Return a text of sysconfig's without the folders of the build."""
    for folder in folders:
        text = re.sub(rf"-[IL]{re.escape(folder)}\S*?(?=[\s'\"]) ?", "", text)
        text = text.replace(f"{folder}/debs/usr", PREFIX).replace(folder, BUILD)
    return text
