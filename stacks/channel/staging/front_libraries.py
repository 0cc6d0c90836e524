"""Libraries with their common names, reduced to some functions; all others are in other libraries.

patchelf renames the dynamic symbols of Debian's reference libraries, except those that the recipe
names, so that the loader finds the others in the libraries that these then need. A recipe may
rename functions, and leave the other functions of a library as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stacks.channel.stages import FrontLibraries
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import copy_libraries, copy_licences, unpack_all
from stacks.channel.staging.elf import PATCHELF, elf_files, exported, set_rpath
from stacks.core.errors import IntegrityError
from stacks.core.process import call

HIDDEN = "unused_"


def stage(context: BuildContext) -> None:
    """Write the reduced libraries and the recipe's links to lib/."""
    extra = context.recipe.extra
    assert isinstance(extra, FrontLibraries)
    source = context.scratch / "debs"
    unpack_all(context, source)
    folder = context.root / "lib"
    copy_libraries(source, folder, [f"{name}*" for name in extra.functions])
    for name, functions in extra.functions.items():
        library = (folder / Path(name).name).resolve()
        names = names_after(library, functions, whole=name in extra.whole)
        renames = context.scratch / "renames"
        renames.write_text(
            "".join(f"{old} {new}\n" for old, new in sorted(names.items()) if old != new)
        )
        call([PATCHELF, "--rename-dynamic-symbols", renames, library])
        # patchelf puts each new need before the others.
        for serving in reversed(extra.serving.get(name, ())):
            call([PATCHELF, "--add-needed", serving, library])
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
    copy_licences(source, context)
    set_rpath(elf_files(folder), folder)


def names_after(library: Path, functions: Mapping[str, str], *, whole: bool) -> dict[str, str]:
    """Return the new name of each symbol by its old one.

    `functions` has the new names of some; the others are hidden, unless the library stays `whole`.
    Raises IntegrityError where the library lacks one of `functions`.
    """
    symbols = exported(library)
    missing = [name for name in functions if name not in symbols]
    if missing:
        raise IntegrityError(
            f"{library.name} of the deb has no function {', '.join(missing)}",
            fix="correct `extra.functions` in the recipe",
        )
    hidden = {} if whole else {name: HIDDEN + name for name in symbols}
    return hidden | dict(functions)
