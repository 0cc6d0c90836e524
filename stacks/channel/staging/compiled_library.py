"""Shared libraries of the project's own sources, compiled with the channel's own compiler."""

from __future__ import annotations

import shutil
from pathlib import Path

from stacks.channel.recipe import Archives
from stacks.channel.stages import Compiled, Linked
from stacks.channel.staging.build_context import Work
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from stacks.sources.unpack import unpack_tar


def stage(work: Work) -> None:
    """Compile the recipe's objects, link its library, and copy headers and licences.

    All sources lie in one folder, and the compiler is run there with relative paths: the folder
    of the recipe's source archive, with the project's own files in `own/`.
    """
    extra = work.recipe.extra
    assert isinstance(extra, Compiled)
    sources = _unpack(work)
    link(work, sources, extra)
    _copy(sources, [extra.library], work.root / "lib")
    _copy(sources, extra.headers, work.root / "include")
    _copy(sources, extra.licences, work.root / "share/licenses" / work.recipe.package.name)


def link(work: Work, folder: Path, linked: Linked, *others: str) -> None:
    """Compile a library's objects and link it, with others beside them, in the sources' folder."""
    objects = []
    for number, item in enumerate(linked.objects):
        objects.append(f"{number}.o")
        gcc(work, folder, ["-c", *linked.flags, *item.flags, item.file, "-o", objects[-1]])
    name = f"-Wl,-soname,{linked.library}"
    libraries = [*others, *(f"-l{library}" for library in linked.libraries)]
    arguments = ["-shared", "-s", *objects, "-o", linked.library, name, "-Wl,-z,defs", *libraries]
    gcc(work, folder, arguments)


def _unpack(work: Work) -> Path:
    """Return the folder with all sources: that of the recipe's archive, where it has one."""
    unpacked = work.scratch / "unpacked"
    unpacked.mkdir()
    for source in work.recipe.source:
        for name in source.names if isinstance(source, Archives) else ():
            unpack_tar(work.sources[name], unpacked)
    folders = list(unpacked.iterdir())
    if len(folders) != 1:
        raise IntegrityError(
            f"the source archive of {work.recipe.package.name} is not as it was",
            expected="one folder with everything in it",
            found=", ".join(sorted(path.name for path in folders)) or "nothing",
            fix="do not use this version",
        )
    own = folders[0] / "own"
    own.mkdir()
    for path in work.recipe.own_sources():
        shutil.copyfile(path, own / path.name)
    return folders[0]


def gcc(work: Work, folder: Path, arguments: list[str]) -> None:
    """Run the channel's gcc in a folder, with nothing of the host's but its shell and coreutils."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C",
        "TMPDIR": str(work.scratch),
        "SOURCE_DATE_EPOCH": "1704067200",
    }
    same = [f"-ffile-prefix-map={folder}=."]
    call([work.tools / "bin/gcc", *same, *arguments], cwd=folder, env=environment)


def _copy(sources: Path, names: tuple[str, ...] | list[str], target: Path) -> None:
    target.mkdir(parents=True)
    for name in names:
        shutil.copyfile(sources / name, target / Path(name).name)
