"""Shared libraries of the project's sources, compiled with the channel's compiler."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH, copy_libraries, unpack_debs, unpack_upstream
from stacks.channel.staging.elf import PATCHELF, add_needs
from stacks.channel.staging.stage import Stage
from stacks.core import reproducible
from stacks.core.models import FileName, Line, RelativePath, Strict
from stacks.core.process import call
from verify.core import machine

THIN_FLAGS = ("-O2", "-std=c99", "-fPIC")
THIN_LIBRARIES = ("-Wl,--as-needed", "-ldl", "-lpthread")


def gcc(context: BuildContext, folder: Path, arguments: Sequence[str | Path]) -> None:
    """Run the channel's gcc in a folder; of the host it uses the shell and coreutils only."""
    # Without the first option the library would record where it was compiled.
    call(
        [context.tools / "bin/gcc", f"-ffile-prefix-map={folder}=.", *arguments],
        cwd=folder,
        env=reproducible.environment(context.tmp),
    )


def compile_all(
    context: BuildContext, folder: Path, arguments: Iterable[Sequence[str]]
) -> list[str]:
    """Compile files in a folder at once; return the names of the object files, in their order.

    arguments: those of the compiler for each file.
    """

    def compiled(number: int, words: Sequence[str]) -> str:
        gcc(context, folder, ["-c", *words, "-o", f"{number}.o"])
        return f"{number}.o"

    with ThreadPoolExecutor(machine.usable_cores()) as pool:
        return list(pool.map(compiled, itertools.count(), arguments))


class Object(Strict):
    """A file to compile: its path in the sources, and its own flags."""

    file: RelativePath
    flags: tuple[Line, ...] = Field(default=(), strict=False)


class Linked(Strict):
    """How to compile and link a shared library."""

    library: str = Field(pattern=r"^lib[A-Za-z0-9_-]+\.so$")
    flags: tuple[Line, ...] = Field(strict=False, description="of every object")
    objects: tuple[Object, ...] = Field(strict=False, min_length=1)
    libraries: tuple[FileName, ...] = Field(
        default=(), strict=False, description="libraries to link with, without lib: m"
    )

    def link(self, context: BuildContext, folder: Path, *others: str) -> Path:
        """Compile the objects in `folder` and link them and the libraries `others`."""
        words = [[*self.flags, *item.flags, item.file] for item in self.objects]
        objects = compile_all(context, folder, words)
        name = f"-Wl,-soname,{self.library}"
        libraries = [*others, *(f"-l{library}" for library in self.libraries)]
        arguments = ["-shared", "-s", *objects, "-o", self.library, name, "-Wl,-z,defs", *libraries]
        gcc(context, folder, arguments)
        return folder / self.library


class Compiled(Stage, Linked):
    """A library of the project's, with its headers.

    Source packages of the recipe are unpacked beside its sources, each into the folder of its name.
    """

    takes_src: ClassVar = True

    stage: Literal["compiled"]
    headers: tuple[RelativePath, ...] = Field(strict=False)
    licences: tuple[RelativePath, ...] = Field(strict=False, min_length=1)

    def write(self, context: BuildContext) -> None:
        """Compile in a copy of the recipe's folder src/, with relative paths."""
        sources = context.tmp / "sources"
        for path in self.project_files(context.recipe):
            target = sources / path.relative_to(context.recipe.src)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        for package in context.source_packages:
            unpack_upstream(context, package, sources / package)
        self.link(context, sources)
        copies = {
            context.lib: (self.library,),
            context.root / "include": self.headers,
            context.licences: self.licences,
        }
        for folder, names in copies.items():
            folder.mkdir(exist_ok=True)
            for name in names:
                shutil.copyfile(sources / name, folder / Path(name).name)


class ThinFront(Stage):
    """A library's common name for another library, with a few functions of the project's.

    All other functions, and those that these call, are in the library that it needs.
    """

    takes_src: ClassVar = True
    rpath: ClassVar = ("lib",)

    stage: Literal["thin-front"]
    library: str = Field(pattern=r"^lib[A-Za-z0-9_]+\.so\.[0-9]+$")
    serving: tuple[FileName, ...] = Field(
        min_length=1, description="the libraries with all other functions, in order"
    )
    # A default of this form is in the recipe hash: blas-64 has no links, and keeps its name.
    links: dict[FileName, RelativePath] = Field(default_factory=dict)

    def write(self, context: BuildContext) -> None:
        """Write the library to lib/."""
        # Relative names only, so that the library does not record where it was made.
        for path in self.code(context):
            shutil.copyfile(path, context.tmp / path.name)
        names = [path.name for path in self.code(context) if path.suffix == ".c"]
        flags = [*THIN_FLAGS, f'-DSERVING="{self.serving[-1]}"']
        objects = compile_all(context, context.tmp, [[*flags, name] for name in names])
        linked = ["-shared", "-s", *objects, "-o", self.library, f"-Wl,-soname,{self.library}"]
        gcc(context, context.tmp, [*linked, *THIN_LIBRARIES])
        context.lib.mkdir()
        library = context.lib / self.library
        shutil.copyfile(context.tmp / self.library, library)
        library.chmod(0o755)
        add_needs(library, self.serving)


class BLIS(Stage):
    """Debian's BLIS with the project's kernels.

    BLIS chooses its kernels at run time from a table for the processor, and exports functions that
    change this table. The kernels are a library of their own, which changes the table when it is
    loaded. BLIS needs that library, so the loader loads it with BLIS.
    """

    takes_src: ClassVar = True
    rpath: ClassVar = ("lib",)

    stage: Literal["blis"]
    build: RelativePath = Field(description="the folder of its library and header in the debs")
    library: FileName
    kernels: Linked

    def write(self, context: BuildContext) -> None:
        """Write BLIS and the kernels to lib/."""
        debs, library = unpack_debs(context), context.lib / self.library
        copy_libraries(debs, context.lib, [f"{self.build}/{self.library}"])
        folder, kernels = context.tmp / "kernels", context.lib / self.kernels.library
        folder.mkdir()
        for path in (debs / f"usr/include/{MULTIARCH}/{self.build}/blis.h", *self.code(context)):
            shutil.copyfile(path, folder / path.name)
        shutil.copyfile(self.kernels.link(context, folder, str(library)), kernels)
        # A need in both directions would leave the order of initialisation undefined (ld.so).
        call([PATCHELF, "--remove-needed", library.name, kernels])
        add_needs(library, [kernels.name])


class Forwarding(Stage):
    """An empty library that needs a library of the host, under another name.

    libgpuarray opens libcuda.so, a name that NVIDIA's driver has on some systems only; libcuda.so.1
    it has on all. Who loads a library that only needs libcuda.so.1, and looks for a function in it,
    finds that of libcuda.so.1.
    """

    takes_src: ClassVar = True

    stage: Literal["forwarding"]
    library: FileName
    stands_for: FileName

    def write(self, context: BuildContext) -> None:
        """Write the library to lib/."""
        source, library = context.tmp / "empty.c", context.lib / self.library
        source.write_text("")
        context.lib.mkdir()
        flags = ["-shared", "-nostdlib", "-s", "-Wl,--build-id=none", f"-Wl,-soname,{self.library}"]
        gcc(context, context.tmp, [*flags, source.name, "-o", library])
        add_needs(library, [self.stands_for])
