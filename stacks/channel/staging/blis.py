"""Debian's BLIS, which gets kernels of the project's own when it is loaded.

BLIS chooses its kernels at run time from a table that it keeps for the processor, and has functions
that change this table. So the kernels are a library beside it, which changes it: BLIS needs that
library, and so has it loaded wherever it is loaded itself.
"""

from __future__ import annotations

import shutil

from stacks.channel.stages import BLIS
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.compiled_library import link
from stacks.channel.staging.debian import MULTIARCH, copy_libraries, copy_licences, unpack_all
from stacks.channel.staging.elf import PATCHELF, elf_files, set_rpath
from stacks.core.process import call


def stage(work: Work) -> None:
    """Write BLIS, its kernels and its links to lib/."""
    extra = work.recipe.extra
    assert isinstance(extra, BLIS)
    source, library = work.scratch / "debs", work.root / "lib" / extra.library
    unpack_all(work, source)
    copy_libraries(source, library.parent, [f"{extra.build}/{extra.library}"])
    for name, target in extra.links.items():
        (library.parent / name).symlink_to(target)
    copy_licences(source, work)
    folder, kernels = work.scratch / "kernels", library.with_name(extra.kernels.library)
    folder.mkdir()
    shutil.copyfile(source / "usr/include" / MULTIARCH / extra.build / "blis.h", folder / "blis.h")
    for path in work.recipe.own_sources():
        shutil.copyfile(path, folder / path.name)
    link(work, folder, extra.kernels, str(library))
    shutil.copyfile(folder / kernels.name, kernels)
    for licence in folder.glob("LICENSE-*"):
        shutil.copyfile(licence, work.root / "share/licenses/libblis" / licence.name)
    # One needs the other, not each the other: then the loader knows which to begin with.
    call([PATCHELF, "--remove-needed", library.name, kernels])
    call([PATCHELF, "--add-needed", kernels.name, library])
    set_rpath(elf_files(work.root), library.parent)
