"""A library's common names, with some of their functions from elsewhere.

Debian's reference libraries are reduced to the functions that the recipe names, by taking the
names of all others away; what else is asked of them comes from the libraries that they then need.
A recipe may give functions other names, and leave a library whole but for these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stacks.channel.stages import FrontLibraries
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.debian import copy_libraries, copy_licences, unpack_all
from stacks.channel.staging.elf import PATCHELF, elf_files, exported, set_rpath
from stacks.core.errors import IntegrityError
from stacks.core.process import call

HIDDEN = "unused_"


def stage(work: Work) -> None:
    """Write lib/ with the reduced libraries and the links that the recipe names."""
    extra = work.recipe.extra
    assert isinstance(extra, FrontLibraries)
    source = work.scratch / "debs"
    unpack_all(work, source)
    folder = work.root / "lib"
    copy_libraries(source, folder, [f"{name}*" for name in extra.functions])
    for name, functions in extra.functions.items():
        library = (folder / Path(name).name).resolve()
        _rename(library, functions, name in extra.whole, work.scratch / "renames")
        # patchelf puts what it adds before what is there.
        for served in reversed(extra.serving.get(name, ())):
            call([PATCHELF, "--add-needed", served, library])
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
    copy_licences(source, work)
    set_rpath(elf_files(folder), folder)


def _rename(library: Path, functions: Mapping[str, str], whole: bool, renames: Path) -> None:
    symbols = exported(library, "")
    missing = [name for name in functions if name not in symbols]
    if missing:
        raise IntegrityError(
            f"{library.name} of the deb has no function {', '.join(missing)}",
            fix="correct `extra.functions` in the recipe",
        )
    names = {} if whole else {name: HIDDEN + name for name in symbols}
    names |= functions
    renames.write_text(
        "".join(f"{old} {new}\n" for old, new in sorted(names.items()) if old != new)
    )
    call([PATCHELF, "--rename-dynamic-symbols", renames, library])
