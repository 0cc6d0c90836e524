"""A library's common name for another library, with a few functions of the project's own.

The functions are compiled with the channel's own compiler. What else is asked of the common name
comes from the library that it needs, as does what those functions call.
"""

from __future__ import annotations

import shutil

from stacks.channel.stages import ThinFront
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.elf import PATCHELF, set_rpath
from stacks.core.process import call

FLAGS = ("-O2", "-std=c99", "-fPIC", "-shared", "-s")


def stage(work: Work) -> None:
    """Write lib/ with the library and the links that the recipe names."""
    extra = work.recipe.extra
    assert isinstance(extra, ThinFront)
    # Relative names only: the library must not know where it was made.
    names = [path.name for path in work.recipe.own_sources()]
    for path in work.recipe.own_sources():
        shutil.copyfile(path, work.scratch / path.name)
    soname = f"-Wl,-soname,{extra.library}"
    call(
        [work.tools / "bin/gcc", *FLAGS, *names, "-o", extra.library, soname],
        cwd=work.scratch,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(work.scratch)},
    )
    folder = work.root / "lib"
    folder.mkdir()
    library = folder / extra.library
    shutil.copyfile(work.scratch / extra.library, library)
    library.chmod(0o755)
    call([PATCHELF, "--add-needed", extra.serving, library])
    set_rpath([library], folder)
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
