"""Shared libraries of the project's own sources, compiled with the channel's own compiler.

Source packages of the recipe are unpacked beside them, each into the folder of its name.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from stacks.channel.stages import Compiled, Linked
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian_source import unpack_upstream
from stacks.core import reproducible
from stacks.core.process import call


def stage(context: BuildContext) -> None:
    """Compile the recipe's objects, link its library, and copy headers and licences.

    The compiler runs in a copy of the recipe's folder src/, with relative paths. Raises
    IntegrityError for a source package without one upstream archive.
    """
    extra = context.recipe.extra
    assert isinstance(extra, Compiled)
    sources = context.scratch / "sources"
    for path in context.recipe.own_sources():
        target = sources / path.relative_to(context.recipe.own_folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for package in context.source_packages:
        unpack_upstream(context, package, sources / package)
    link(context, sources, extra)
    _copy(sources, [extra.library], context.root / "lib")
    _copy(sources, extra.headers, context.root / "include")
    _copy(sources, extra.licences, context.licences)


def link(context: BuildContext, folder: Path, linked: Linked, *others: str) -> None:
    """Compile a library's objects and link them, and the libraries `others`, in `folder`."""
    objects = []
    for number, item in enumerate(linked.objects):
        objects.append(f"{number}.o")
        gcc(context, folder, ["-c", *linked.flags, *item.flags, item.file, "-o", objects[-1]])
    name = f"-Wl,-soname,{linked.library}"
    libraries = [*others, *(f"-l{library}" for library in linked.libraries)]
    arguments = ["-shared", "-s", *objects, "-o", linked.library, name, "-Wl,-z,defs", *libraries]
    gcc(context, folder, arguments)


def gcc(context: BuildContext, folder: Path, arguments: Sequence[str | Path]) -> None:
    """Run the channel's gcc in a folder; of the host it uses the shell and coreutils only."""
    # Without the first option the library would record where it was compiled.
    call(
        [context.tools / "bin/gcc", f"-ffile-prefix-map={folder}=.", *arguments],
        cwd=folder,
        env=reproducible.environment(context.scratch),
    )


def _copy(sources: Path, names: Sequence[str], target: Path) -> None:
    target.mkdir(parents=True)
    for name in names:
        shutil.copyfile(sources / name, target / Path(name).name)
