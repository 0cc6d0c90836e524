"""Debian's BLIS with the project's own kernels.

BLIS chooses its kernels at run time from a table for the processor, and exports functions that
change this table. The kernels are a library of their own, which changes the table when it is
loaded. BLIS needs that library, so the loader loads it with BLIS.
"""

from __future__ import annotations

import shutil

from stacks.channel.stages import BLIS
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.compiled_library import link
from stacks.channel.staging.debian import MULTIARCH, copy_libraries, copy_licences, unpack_all
from stacks.channel.staging.elf import PATCHELF, elf_files, set_rpath
from stacks.channel.staging.own_files import copy_own_licences, own_code
from stacks.core.process import call


def stage(context: BuildContext) -> None:
    """Write BLIS, the kernels and the recipe's links to lib/."""
    extra = context.recipe.extra
    assert isinstance(extra, BLIS)
    source, library = context.scratch / "debs", context.root / "lib" / extra.library
    unpack_all(context, source)
    copy_libraries(source, library.parent, [f"{extra.build}/{extra.library}"])
    for name, target in extra.links.items():
        (library.parent / name).symlink_to(target)
    copy_licences(source, context)
    folder, kernels = context.scratch / "kernels", library.with_name(extra.kernels.library)
    folder.mkdir()
    shutil.copyfile(source / "usr/include" / MULTIARCH / extra.build / "blis.h", folder / "blis.h")
    for path in own_code(context):
        shutil.copyfile(path, folder / path.name)
    link(context, folder, extra.kernels, str(library))
    shutil.copyfile(folder / kernels.name, kernels)
    copy_own_licences(context)
    # A need in both directions would leave the order of initialisation undefined (ld.so).
    call([PATCHELF, "--remove-needed", library.name, kernels])
    call([PATCHELF, "--add-needed", kernels.name, library])
    set_rpath(elf_files(context.root), library.parent)
